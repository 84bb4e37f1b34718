// A learner joins a class by its code, and sees what their teacher sees of them.
import { Failed, useFailure, useLoaded } from '../loaded.js';
import { join, leave, mine, useMember } from '../member.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html, styled, useState } from '../ui.js';
import { usePack } from './load.js';
import { words } from './text.js';

await styled('teach/teach.css');

/** @param {{route: import('../route.js').Route}} props */
export function Join({ route }) {
  const member = useMember();
  return member ? html`<${Joined} member=${member} />` : html`<${Form} code=${route.query.code ?? ''} />`;
}

/** @param {{code: string}} props of the link */
function Form({ code }) {
  const w = words().classes;
  const [typed, setTyped] = useState(code);
  const [name, setName] = useState('');
  const [failure, setFailure] = useFailure();
  const enter = (/** @type {Event} */ e) => {
    e.preventDefault();
    setFailure('');
    join(typed.trim(), name).catch((error) => setFailure(w.refused(error)));
  };
  return html`
    <form class="panel teach-join" onSubmit=${enter} aria-labelledby="join-title"><h1 id="join-title">${w.join}</h1><p class="hint">${w.joinHint}</p>
      <div class="field"><label for="class-code">${w.typed}</label><input id="class-code" required autocomplete="off" autocapitalize="characters" spellcheck=${false} maxlength="20" value=${typed} onInput=${(e) => setTyped(e.currentTarget.value)} /></div>
      <div class="field"><label for="class-nickname">${w.nickname}</label><input id="class-nickname" required autocomplete="off" maxlength="24" value=${name} onInput=${(e) => setName(e.currentTarget.value)} /></div>
      <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
      <p><button type="submit" class="offer small">${w.enter}</button></p></form>`;
}

/** @param {{member: import('../member.js').Member}} props */
function Joined({ member: { code, nickname } }) {
  const w = words().classes;
  const { value, error, again } = useLoaded(mine, [code, nickname]);
  const { value: pack } = usePack();
  const said = Object.values(value?.predictions ?? {});
  return html`
    <section class="panel teach-join"><h1>${w.joined(nickname, code)}</h1><p>${w.told}</p>
      <p class="teach-ways"><a href=${link('play')}>${w.play}</a> <a href=${link('lessons')}>${w.learn}</a></p>
      ${error && html`<${Failed} error=${error} again=${again} said=${w.refused(error)} />`}
      ${value && pack && html`<h2>${w.yours}</h2><dl class="facts">
        <div><dt>${w.levelsSolved}</dt><dd>${w.of2(Object.keys(value.levels).length, pack.levels.length)}</dd></div>
        <div><dt>${w.predicted}</dt><dd>${w.of2(said.filter((p) => p.right).length, said.length)}</dd></div>
        <div><dt>${w.read}</dt><dd>${w.of2(Object.keys(value.chapters).length, pack.chapters.length)}</dd></div></dl>`}
      ${!pack && html`<p class="hint">${t.nav.loading}</p>`}
      <p><button type="button" class="link" data-do="leave-class" onClick=${leave}>${w.leave}</button></p></section>`;
}
