// A counterexample of a chapter, drawn.
import { link } from '../route.js';
import { t } from '../text.js';
import { Picture } from '../trace/picture.js';
import { fetchExample } from '../trace/source.js';
import { html, useEffect, useState } from '../ui.js';

/** @param {{name: string, says: string}} props its name, and what the link to its steps says */
export function Drawn({ name, says }) {
  const [trace, setTrace] = useState(/** @type {import('../trace/model.js').Trace | null} */ (null));
  const [failure, setFailure] = useState('');
  useEffect(() => {
    let left = false;
    fetchExample(name).then((e) => left || setTrace(e), (error) => left || setFailure(error.message));
    return () => { left = true; };
  }, [name]);
  return html`
    <figure class="drawn-example">
      ${trace && html`<${Picture} trace=${trace} />`}
      ${failure && html`<p class="wrong" role="alert">${t.lessons.notDrawn(failure)}</p>`}
      <figcaption><a href=${link('trace', name, { view: 'diagram' })}>${says}</a></figcaption>
    </figure>`;
}
