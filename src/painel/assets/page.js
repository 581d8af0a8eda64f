/** What a script adds to the page: copying, and time that runs. Everything works without it. */
function showCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll('button[data-copy]')) button.hidden = false;
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  await navigator.clipboard.writeText(source.textContent);
  const said = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => (button.textContent = said), 2_000);
}

document.addEventListener('click', (event) => {
  const button = event.target.closest?.('button[data-copy]');
  if (button) copy(button).catch(() => undefined);
});

document.addEventListener('input', (event) => {
  const shown = document.getElementById(event.target.dataset?.shownIn ?? '');
  if (shown) shown.textContent = event.target.value;
});

document.addEventListener('change', ({ target }) => {
  if (target.dataset?.submits !== undefined) target.form.requestSubmit();
});

showCopyButtons(document);
document.addEventListener('htmx:after:swap', () => showCopyButtons(document));

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
document.querySelector('form[data-goes-on]')?.requestSubmit();
