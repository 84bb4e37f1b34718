// Draws the counterexamples in a report of `seckill prove`: each when it is
// opened, and in light colours for print. The report has these modules inside.
import { diagram } from './diagram.js';
import { readExample } from './read.js';

const isDark = matchMedia('(prefers-color-scheme: dark)');
const isPrint = matchMedia('print');
const paper = 700; // pixels between the margins of a page of A4
let printing = false;

/** @param {Element} place */
function draw(place) {
  const print = printing || isPrint.matches;
  const box = place.querySelector('.drawing');
  if (!box) return;
  try {
    const trace = readExample(place.querySelector('script')?.textContent ?? '');
    box.innerHTML = diagram(trace, { width: print ? paper : Math.min(box.clientWidth, 1100), dark: !print && isDark.matches });
  } catch {
    place.classList.add('undrawn'); // its file is linked below
  }
}

const again = () => document.querySelectorAll('details.example[open]').forEach(draw);

function openTarget() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(place instanceof HTMLDetailsElement)) return;
  place.open = true;
  draw(place); // its height is known before the page goes there
  place.scrollIntoView();
}

let asked = 0;
addEventListener('resize', () => {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(again);
});
document.addEventListener('toggle', ({ target }) => {
  if (target instanceof HTMLDetailsElement && target.open) draw(target);
}, true);
addEventListener('hashchange', openTarget);
for (const [event, begins] of /** @type {const} */ ([['beforeprint', true], ['afterprint', false]])) {
  addEventListener(event, () => {
    printing = begins;
    again();
  });
}
for (const look of [isDark, isPrint]) look.addEventListener('change', again);
openTarget();
