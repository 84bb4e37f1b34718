// How an answer looks: a sign for everybody, a colour besides.
export const signs = { holds: '✓', breaks: '✗', measured: '•', 'n/a': '–', failed: '!', '': '?' };
export const kinds = { holds: 'good', breaks: 'bad', measured: 'seen', 'n/a': 'void', failed: 'fault', '': 'void' };
