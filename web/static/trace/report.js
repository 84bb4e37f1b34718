// Draws the counterexamples in a report of `seckill prove`: each when it is
// opened, and in light colours for print. The report has these modules inside.
import { diagram } from './diagram.js';
import { readExample } from './read.js';

const isDark = matchMedia('(prefers-color-scheme: dark)');
const paper = 700; // pixels between the margins of a page of A4

/** @param {Element} place @param {boolean} [print] */
function draw(place, print = false) {
  const box = place.querySelector('.drawing');
  if (!box) return;
  try {
    const trace = readExample(place.querySelector('script')?.textContent ?? '');
    box.innerHTML = diagram(trace, { width: print ? paper : Math.min(box.clientWidth, 1100), dark: !print && isDark.matches });
  } catch {
    place.classList.add('undrawn'); // its file is linked below
  }
}

const again = (print = false) => document.querySelectorAll('details.example[open]').forEach((place) => draw(place, print));

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
  asked = requestAnimationFrame(() => again());
});
document.addEventListener('toggle', ({ target }) => {
  if (target instanceof HTMLDetailsElement && target.open) draw(target);
}, true);
addEventListener('hashchange', openTarget);
addEventListener('beforeprint', () => again(true));
addEventListener('afterprint', () => again());
isDark.addEventListener('change', () => again());
openTarget();
