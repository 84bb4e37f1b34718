// A counterexample of a chapter, drawn.
import { Failed, useLoaded } from '../loaded.js';
import { link } from '../route.js';
import { Picture } from '../trace/picture.js';
import { fetchExample } from '../trace/source.js';
import { html } from '../ui.js';
import { words as lessonWords } from './text.js';

/** @param {{name: string, says: string}} props its name, and what the link to its steps says */
export function Drawn({ name, says }) {
  const { value: trace, error, again } = useLoaded(() => fetchExample(name), [name]);
  return html`
    <figure class="drawn-example">
      ${trace && html`<${Picture} trace=${trace} />`}
      ${error && html`<${Failed} error=${error} again=${again} said=${lessonWords().notDrawn(error.message)} />`}
      <figcaption><a href=${link('trace', name, { view: 'diagram' })}>${says}</a></figcaption>
    </figure>`;
}
