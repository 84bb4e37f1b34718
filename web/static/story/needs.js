// What stands in place of a screen for which a site would need a lab.
import { Copy } from '../copy.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';

/**
 * name: of the screen, if it is one; does: what a button of the lab would do; command: does the same in a terminal.
 * @param {{name?: string, does?: string, command?: string}} props
 */
export const NeedsLab = ({ name = '', does = '', command = 'make demo' }) => html`
  <section class="panel needs-lab start">
    ${name && html`<h1>${t.nav[name] ?? t.nav.doors[name]}</h1>`}
    ${does && html`<p><strong>${does}</strong></p>`}
    <p>${t.site.needs}</p>
    <pre tabindex="0"><code>${command}</code></pre>
    <p><${Copy} text=${command} label=${t.site.copy} /> <a href=${link('story', 'docs/cli.md')}>${t.site.how}</a></p>
  </section>`;
