import { Refused, keepToken } from '../api.js';
import { isOn, start, stop } from '../lab.js';
import { t } from '../text.js';
import { classes, html, useEffect, useState } from '../ui.js';

const numbers = ['stock', 'buyers', 'concurrency', 'quantity'];
const defaults = { strategy: 'conditional', stock: '100', buyers: '2000', concurrency: '64', quantity: '1' };
const defaultLimits = { stock: 1000000, buyers: 200000, concurrency: 1024, quantity: 1000 };

/** What is wrong with the settings, by field. The lab checks the same again. */
export function findWrong(form, limits) {
  const wrong = {};
  if (!form.strategy) wrong.strategy = t.wrong.strategy;
  for (const name of numbers) {
    const text = form[name].trim();
    const n = Number(text);
    if (!/^\d+$/.test(text) || n < 1 || n > limits[name]) wrong[name] = t.wrong.number(limits[name]);
  }
  if (Object.keys(wrong).length) return wrong;
  const [stock, buyers, , quantity] = numbers.map((name) => Number(form[name]));
  if (quantity > stock) wrong.quantity = t.wrong.tooMuch(stock);
  else if (buyers * quantity <= stock) wrong.buyers = t.wrong.noDemand(Math.floor(stock / quantity));
  return wrong;
}

export function RunForm({ lab }) {
  const [form, setForm] = useState(defaults);
  const [touched, setTouched] = useState(false);
  const [wrong, setWrong] = useState({});
  const [failure, setFailure] = useState('');
  const [sending, setSending] = useState(false);
  const run = lab.newest;
  const limits = lab.status?.limits ?? defaultLimits;

  // A reload and a second tab start from what ran last.
  useEffect(() => {
    if (!run || touched) return;
    const { strategy, ...rest } = run.settings;
    setForm({ strategy, ...Object.fromEntries(numbers.map((name) => [name, String(rest[name])])) });
  }, [run?.id]);

  const edit = (name) => (e) => {
    const next = { ...form, [name]: e.currentTarget.value };
    setTouched(true);
    setForm(next);
    if (wrong[name]) setWrong({ ...wrong, [name]: findWrong(next, limits)[name] });
  };

  async function submit(e) {
    e.preventDefault();
    if (isOn(run) || sending) return;
    const found = findWrong(form, limits);
    setWrong(found);
    setFailure('');
    const first = ['strategy', ...numbers].find((name) => found[name]);
    if (first) {
      document.getElementById(first).focus();
      return;
    }
    setSending(true);
    try {
      await start({ strategy: form.strategy, ...Object.fromEntries(numbers.map((name) => [name, Number(form[name])])) });
      showStage();
    } catch (error) {
      const blamed = error instanceof Refused ? error.fields : {};
      if (error.code === 'forbidden' && lab.status?.token_needed) blamed.token = t.wrong.token;
      setWrong(blamed);
      if (!Object.keys(blamed).length) setFailure(error.message);
    } finally {
      setSending(false);
    }
  }

  return html`
    <form class="panel sale" novalidate onSubmit=${submit} aria-labelledby="sale-title">
      <h2 id="sale-title">${t.form.title}</h2>
      <${StrategyField} strategies=${lab.strategies} value=${form.strategy} wrong=${wrong.strategy} onChange=${edit('strategy')}
        answering=${lab.status !== null} />
      <div class="numbers">
        ${numbers.map((name) => html`
          <${NumberField} key=${name} name=${name} value=${form[name]} wrong=${wrong[name]} onInput=${edit(name)} />`)}
      </div>
      ${lab.status?.token_needed && html`<${TokenField} wrong=${wrong.token} />`}
      <div class="buttons">
        <button type="submit" class="run" aria-disabled=${isOn(run) || sending ? 'true' : undefined}>${t.form.run}</button>
        ${isOn(run) && html`
          <button type="button" class="stop" disabled=${run.state === 'stopping'}
            onClick=${() => stop(run).catch((error) => setFailure(error.message))}>
            ${run.state === 'stopping' ? t.form.stopping : t.form.stop}
          </button>`}
      </div>
      <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
    </form>`;
}

/** On a phone the run is below the form. */
function showStage() {
  const stage = document.getElementById('stage');
  if (stage.getBoundingClientRect().top > innerHeight / 2) stage.scrollIntoView();
}

function StrategyField({ strategies, value, wrong, onChange, answering }) {
  const families = [...new Set(strategies.map((s) => s.family))];
  const chosen = strategies.find((s) => s.name === value);
  return html`
    <div class="field">
      <label for="strategy">${t.form.strategy}</label>
      <select id="strategy" value=${value} onChange=${onChange} aria-invalid=${wrong ? 'true' : undefined}
        aria-describedby="strategy-about strategy-wrong">
        ${families.map((family) => html`
          <optgroup key=${family} label=${t.families[family] ?? family}>
            ${strategies.filter((s) => s.family === family).map((s) => html`
              <option key=${s.name} value=${s.name} selected=${s.name === value} disabled=${!s.available}>
                ${s.name}${s.broken && ` (${t.form.broken})`}${!s.available && ` (${t.form.unavailable}: ${s.missing.join('; ')})`}
              </option>`)}
          </optgroup>`)}
      </select>
      <p id="strategy-about" class="hint">
        ${chosen?.broken && html`<span class="badge bad">${t.form.broken}</span> `}
        ${chosen?.idea}${!strategies.length && answering && t.form.noStrategies}
      </p>
      <${Wrong} id="strategy-wrong" text=${wrong} />
    </div>`;
}

function NumberField({ name, value, wrong, onInput }) {
  return html`
    <div class="field">
      <label for=${name}>${t.form[name]}</label>
      <input id=${name} name=${name} value=${value} onInput=${onInput} inputmode="numeric" autocomplete="off"
        aria-invalid=${wrong ? 'true' : undefined} aria-describedby=${`${name}-hint ${name}-wrong`} />
      <p id=${`${name}-hint`} class="hint">${t.form[name + 'Hint']}</p>
      <${Wrong} id=${`${name}-wrong`} text=${wrong} />
    </div>`;
}

function TokenField({ wrong }) {
  return html`
    <div class="field">
      <label for="token">${t.form.token}</label>
      <input id="token" type="password" autocomplete="off"
        aria-invalid=${wrong ? 'true' : undefined} aria-describedby="token-hint token-wrong"
        onInput=${(e) => keepToken(e.currentTarget.value)} />
      <p id="token-hint" class="hint">${t.form.tokenHint}</p>
      <${Wrong} id="token-wrong" text=${wrong} />
    </div>`;
}

const Wrong = ({ id, text }) => html`<p id=${id} class=${classes('wrong', !text && 'none')}>${text}</p>`;
