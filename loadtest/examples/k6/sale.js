// A sale by k6 that `seckill judge` can judge: every call is one line on the
// console, which k6 writes into a file.
//
//   curl -X PUT -H "Authorization: Bearer $SECKILL_TOKEN" -d '{"stock":100}' $TARGET/api/v1/skus/1
//   k6 run -e TARGET=$TARGET -e STOCK=100 --log-format=raw --console-output=told.jsonl sale.js
//   seckill judge --told told.jsonl --mysql-dsn …
import exec from 'k6/execution';
import http from 'k6/http';
import { told } from './told.js';

const target = __ENV.TARGET || 'http://127.0.0.1:8081';
const strategy = __ENV.STRATEGY || 'conditional';
const sku = Number(__ENV.SKU || 1);

export const options = {
  scenarios: { buyers: { executor: 'shared-iterations', vus: 64, iterations: Number(__ENV.BUYERS || 2000) } },
};

export function setup() {
  console.log(JSON.stringify({ sku_id: sku, stock: Number(__ENV.STOCK), strategy })); // the first line: what was set
}

export default function () {
  const user = exec.scenario.iterationInTest + 1;
  const asked = { request_id: `k6-${user}`, user_id: user, sku_id: sku, quantity: 1 };
  const buy = () => {
    const sent = new Date();
    const response = http.post(`${target}/api/v1/seckill?strategy=${strategy}`,
      JSON.stringify({ sku_id: sku, user_id: user, quantity: 1 }),
      { headers: { 'Content-Type': 'application/json', 'Idempotency-Key': asked.request_id }, timeout: '10s' });
    const line = told(asked, sent, response);
    console.log(JSON.stringify(line));
    return line;
  };
  if (buy().outcome === 'unknown') buy(); // the same key again: a line of its own
}
