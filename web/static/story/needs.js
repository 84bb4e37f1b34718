// What stands in place of a screen for which a site would need a lab.
import { Copy } from '../copy.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';

/**
 * name: of the screen, if it is one; command: does the same in a terminal.
 * @param {{name?: string, command?: string}} props
 */
export const NeedsLab = ({ name = '', command = 'make demo' }) => html`
  <section class="panel needs-lab">
    ${name && html`<h1>${t.nav[name] ?? t.nav.doors[name]}</h1>`}
    <p>${t.site.needs}</p>
    <pre tabindex="0"><code>${command}</code></pre>
    <p><${Copy} text=${command} label=${t.site.copy} /> <a href=${link('story', 'docs/cli.md')}>${t.site.how}</a></p>
  </section>`;
