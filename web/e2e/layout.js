// What is laid out wrongly on the page as it is now, in sentences: a page wider
// than its window, a box wider than its parent, a text written over the edge
// of its panel, texts that overlap, a word broken by letters.
(() => {
  const found = new Set();
  const name = (el) => {
    const own = (e) => e.tagName.toLowerCase() + (e.id ? `#${e.id}` : '')
      + (typeof e.className === 'string' && e.className.trim() ? `.${e.className.trim().split(/\s+/).join('.')}` : '');
    return `${el.parentElement ? `${own(el.parentElement)} > ` : ''}${own(el)}`;
  };
  const style = new Map();
  const of = (el) => style.get(el) ?? style.set(el, getComputedStyle(el)).get(el);
  const clips = (el) => of(el).overflowX !== 'visible' || of(el).overflowY !== 'visible';
  const scrolled = (el) => { // what sticks out is scrolled to, or cut off on purpose
    for (let e = el; e !== document.body; e = e.parentElement) if (clips(e)) return true;
    return false;
  };
  const unseen = (el) => !el.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    || el.closest('.hidden, .skip, noscript, script, style, option, .uplot, dialog:not([open])') !== null;
  // What floats above the page on purpose, and what stays while the rest scrolls.
  const floats = (el) => {
    for (let e = el; e; e = e.parentElement) {
      if (['fixed', 'sticky'].includes(of(e).position) || e.matches('.options, dialog')) return true;
    }
    return false;
  };

  if (document.documentElement.scrollWidth > innerWidth) {
    found.add(`the page is ${document.documentElement.scrollWidth - innerWidth} px wider than the window`);
  }

  for (const el of document.body.querySelectorAll('*')) {
    const parent = el.parentElement;
    if (el.closest('svg') || unseen(el) || ['absolute', 'fixed'].includes(of(el).position) || of(el).display === 'inline') continue;
    if (parent === document.body || scrolled(parent) || of(parent).display === 'contents') continue;
    const a = el.getBoundingClientRect(), b = parent.getBoundingClientRect();
    if (a.width > 0 && b.width > 0 && (a.right > b.right + 1.5 || a.left < b.left - 1.5)) {
      found.add(`${name(el)} sticks out of its parent by ${Math.round(Math.max(a.right - b.right, b.left - a.left))} px`);
    }
  }

  const large = parseFloat(of(document.documentElement).fontSize) > 16;
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const el = node.parentElement;
    if (!node.data.trim() || unseen(el) || el.closest('svg')) continue;
    const range = document.createRange();
    // A long name in code, an order's, or a long number may break anywhere, in large type also
    // a short name between signs that do not break; a word may not.
    const code = el.closest('code, pre, .name, .examples, [class*=mono]') !== null;
    for (const word of node.data.matchAll(/[\p{Script=Latin}\d]{2,}/gu)) {
      if (code ? word[0].length > 12 || large : /^\d{13,}$/.test(word[0])) continue;
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const boxes = [...range.getClientRects()].filter((r) => r.width > 0);
      if (boxes.length > 1 && boxes.some((r) => Math.abs(r.top - boxes[0].top) > r.height / 2)) {
        found.add(`${name(el)} breaks the word "${word[0]}"`);
      }
    }
    if (floats(el)) continue;
    let panel = el; // what has an edge that is seen
    while (panel !== document.body && of(panel).borderRightStyle === 'none' && of(panel).backgroundColor === 'rgba(0, 0, 0, 0)') panel = panel.parentElement;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const beyond = box.right - panel.getBoundingClientRect().right;
      if (beyond > 1.5 && !scrolled(el)) found.add(`"${node.data.trim().slice(0, 30)}" (${name(el)}) is written over the edge of ${name(panel)} by ${Math.round(beyond)} px`);
      // A line may be lower than its letters' box: what counts is the line.
      const spare = of(el).display === 'inline' ? 0 : Math.max(0, box.height - parseFloat(of(el).lineHeight)) / 2 || 0;
      let [left, top, right, bottom] = [box.left, box.top + spare, box.right, box.bottom - spare];
      for (let e = el; e; e = e.parentElement) { // only what is seen of it
        if (!clips(e)) continue;
        const c = e.getBoundingClientRect();
        left = Math.max(left, c.left), right = Math.min(right, c.right), top = Math.max(top, c.top), bottom = Math.min(bottom, c.bottom);
      }
      if (right - left > 1 && bottom - top > 1) texts.push({ el, text: node.data.trim().slice(0, 30), left, top, right, bottom });
    }
  }
  texts.sort((a, b) => a.top - b.top);
  for (let i = 0; i < texts.length; i++) {
    const a = texts[i];
    for (let j = i + 1; j < texts.length && texts[j].top < a.bottom; j++) {
      const b = texts[j];
      if (a.el === b.el || a.el.contains(b.el) || b.el.contains(a.el)) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Lines set close to each other share a few pixels without ink.
      if (across > 2 && down > Math.min(a.bottom - a.top, b.bottom - b.top) * 0.35) {
        found.add(`"${a.text}" (${name(a.el)}) and "${b.text}" (${name(b.el)}) overlap`);
      }
    }
  }

  for (const button of document.querySelectorAll('main .run, main .stop:not([disabled])')) {
    if (unseen(button)) continue;
    button.scrollIntoView({ block: 'center', behavior: 'instant' });
    const box = button.getBoundingClientRect();
    const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!there || !button.contains(there)) found.add(`${name(button)} cannot be reached: ${there ? name(there) : 'nothing'} is there`);
  }
  scrollTo(0, 0);
  return [...found];
})()
