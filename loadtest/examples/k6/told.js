// A line of `seckill judge --told`, from an answer as k6 has it.

const outcomes = {
  sold_out: 'sold_out', duplicate: 'duplicate', conflict: 'conflict', busy: 'busy', rate_limited: 'busy',
  in_progress: 'in_progress', expired: 'expired', unknown_outcome: 'unknown', internal: 'unknown',
};

// asked: {request_id, user_id, sku_id, quantity}; sent: when, a Date;
// response: of http.post, with timings.duration in milliseconds.
export function told(asked, sent, response) {
  const line = Object.assign({}, asked, { sent_at: sent.toISOString() });
  let body = null;
  try {
    body = JSON.parse(response.body);
  } catch (_) {
    // no answer, or one that is cut off
  }
  if (response.status === 0 || body === null) {
    line.outcome = 'unknown'; // a time-out is never "sold out"
    return line;
  }
  line.answered_at = new Date(sent.getTime() + Math.ceil(response.timings.duration)).toISOString();
  if (response.status === 200) {
    line.outcome = 'sold';
    line.order_id = body.order_id;
    line.remaining = body.remaining;
  } else {
    line.outcome = outcomes[body.code] || (response.status === 202 ? 'accepted' : response.status < 500 || body.code ? 'error' : 'unknown');
  }
  return line;
}
