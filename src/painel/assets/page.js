/** What a script adds to the page: copying, time that runs, and a rest for what is live. Everything works without it. */
function showButtons() {
  const shown = navigator.clipboard ? 'button[data-copy], [data-pause]' : '[data-pause]';
  for (const button of document.querySelectorAll(shown)) button.hidden = false;
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  await navigator.clipboard.writeText(source.textContent);
  const said = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => (button.textContent = said), 2_000);
}

let isPaused = false;

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('button[data-copy], [data-pause]');
  if (button?.dataset.copy) copy(button).catch(() => undefined);
  if (!button?.dataset.pause) return;
  isPaused = !isPaused;
  [button.textContent, button.dataset.pause] = [button.dataset.pause, button.textContent];
});

// What is live rests while it is paused, nobody sees it, or somebody is at a link of it.
document.addEventListener('htmx:before:request', (event) => {
  const { sourceElement: part } = event.detail.ctx;
  if (!part.getAttribute('hx-trigger')?.startsWith('every')) return;
  if (isPaused || document.hidden || part.querySelector(':is(a, button, input, select):focus')) event.preventDefault();
});

document.addEventListener('input', (event) => {
  const shown = document.getElementById(event.target.dataset?.shownIn ?? '');
  if (shown) shown.textContent = event.target.value;
});

document.addEventListener('change', ({ target }) => {
  if (target.dataset?.submits !== undefined) target.form.requestSubmit();
});

showButtons();
document.addEventListener('htmx:after:swap', showButtons);

function left(ms) {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

function countDown() {
  for (const part of document.querySelectorAll('[data-until]')) {
    part.textContent = `(${left(Date.parse(part.dataset.until) - Date.now())})`;
  }
}

countDown();
setInterval(countDown, 1_000);

// Work that one request does not end: its form goes on by itself.
document.querySelector('[data-goes-on] form')?.requestSubmit();
