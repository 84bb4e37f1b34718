// The English sentences that a reader of the Chinese page sees or hears:
// three Latin words in a row, outside of code, commands, names and servers' own errors.
(() => {
  const sentence = /[A-Za-z][A-Za-z’'-]*[a-z](?:,? +[A-Za-z’'-]*[a-z]){2,}/;
  const found = new Set();
  const look = (text, el) => {
    if (!sentence.test(text.replace(/\bseckill( -?-?[\w-]+)+|\b(zk|redis): [\w ]+|\bError \d{4} \(\w{5}\): .*/g, '')) || el.closest('code, pre, kbd, script, style, noscript, desc, title.d-whole, [translate="no"]')) return;
    found.add(`${el.tagName.toLowerCase()}${el.className && typeof el.className === 'string' ? `.${el.className}` : ''}: ${text.trim().slice(0, 120)}`);
  };
  const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) look(node.data, node.parentElement);
  for (const el of document.querySelectorAll('*')) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext']) look(el.getAttribute(name) ?? '', el);
  }
  return [...found];
})();
