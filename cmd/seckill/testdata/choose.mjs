// Node runs this from the top of the repository, with the strategies as JSON on standard input. For all combinations of
// answers, each with one rate: the chooser recommends a strategy if and only if nothing in the matrix, the servers and the
// figures speaks against it.
import { readFileSync } from 'node:fs';
import { addressOf, answersOf, choose, failures, rates, servers, waysOut } from '../../../web/static/choose/choose.js';

const read = (name) => JSON.parse(readFileSync(name, 'utf8'));
const [strategies, matrix, figures] = [read(0), read('web/guarantees/matrix.json'), read('web/static/figures.json')];
const offers = { mysql: ['RowLocks', 'Procedures', 'SkipLocked', 'ReadCommitted'], redis: ['Redis'], redis5: ['Redis', 'RedisQuorum'], zookeeper: ['ZooKeeper'], etcd: ['Etcd'] };

/** What speaks against a strategy, from the matrix itself. */
function unfit({ need, rate, have, processes, fails }, { name, broken, repair, needs }) {
  if (broken || repair) return 'it is a lesson: another strategy mends it';
  const { cells } = matrix.rows.find((row) => row.strategy === name);
  const asked = [...fails, ...(processes ? ['processes'] : [])];
  const must = ['oversell', 'lost-update', 'other-skus', ...(need === 'lock' ? ['owner', ...asked.filter((q) => q === 'node-loss')] : [])];
  const against = must.find((q) => cells[q].answer !== 'holds') ?? asked.find((q) => !['holds', 'n/a'].includes(cells[q].answer));
  if (against) return `${against}: ${cells[against].answer}`;
  const lacks = needs.find((n) => n !== 'SQL' && !have.some((server) => offers[server].includes(n)));
  if (lacks) return `needs ${lacks}`;
  const measured = figures['hot-row'].strategies[name];
  const sales = measured?.verdict === 'held' ? measured.sales_per_second[0] : 0;
  return sales < rate ? 'too slow, or not measured' : '';
}

// Of failures at most two: more only exclude more.
const subsets = (list) => list.reduce((all, one) => all.flatMap((some) => [some, [...some, one]]), [[]]);
const fitting = (answers) => choose(answers, strategies, matrix, figures);
const wrong = (answers, text) => console.log(`${JSON.stringify(answers)}: ${text}`);
let combinations = 0;
let usual = '';
for (const need of ['stock', 'lock']) for (const processes of [true, false])
  for (const have of subsets(Object.keys(servers))) for (const fails of subsets(failures).filter((some) => some.length <= 2)) {
    const answers = { need, rate: rates[combinations++ % rates.length], have, processes, fails };
    if (JSON.stringify(answersOf(addressOf(answers))) !== JSON.stringify(answers)) wrong(answers, 'lost on the way through the address');
    const fits = fitting(answers).map((fit) => fit.strategy.name);
    for (const strategy of strategies) {
      const why = unfit(answers, strategy);
      if (fits.includes(strategy.name) !== (why === '')) wrong(answers, `${strategy.name} is recommended: ${fits.includes(strategy.name)}, and what speaks against it is "${why}"`);
    }
    const ways = fits.length ? [] : waysOut(answers, fitting);
    if (ways.some((way) => !way.fits.length)) wrong(answers, 'a way out leads nowhere');
    if (need === 'lock' && answers.rate === 0 && !fits.length && !ways.length && fails.length < 2) wrong(answers, 'nothing fits, and no way out is shown');
    if (need === 'stock' && answers.rate === 0 && processes && !fails.length && have.join() === 'mysql') usual = fits[0];
  }
if (usual !== 'conditional') wrong({}, `the usual answers lead to "${usual}" first, want conditional, as README and chapter 12 say`);
if (combinations !== 2 * 2 * 32 * (1 + 6 + 15)) wrong({}, `${combinations} combinations of answers`);
