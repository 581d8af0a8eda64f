/**
 * Listens to the stream that a part of the page names: `serie` goes on as an event of the document, every other message is
 * the new content of the part of its name, made by the server as the page itself is. A part waits with it while somebody is at
 * a link of it. A select that `data-follows` names leads to the stream of what it chooses, and tells the other forms of the part.
 */
const streams = new Map();

function show(part, data) {
  const drawn = document.createElement('template');
  drawn.innerHTML = data;
  if (drawn.innerHTML.trim() === part.innerHTML.trim()) return;
  part.waiting = part.querySelector(':is(a, button, input, select):focus') ? data : undefined;
  if (part.waiting === undefined) part.innerHTML = data;
}

function listen(root, address) {
  const source = new EventSource(address);
  source.addEventListener('serie', ({ data }) => {
    document.dispatchEvent(new CustomEvent('carteiro:serie', { detail: JSON.parse(data) }));
  });
  for (const part of root.querySelectorAll('[data-part]')) {
    source.addEventListener(part.dataset.part, ({ data }) => show(part, data));
  }
  streams.get(root)?.source.close();
  streams.set(root, { address, source });
}

function start(root) {
  listen(root, root.dataset.live);
  root.addEventListener('focusout', ({ target, relatedTarget }) => {
    const part = target.closest('[data-part]');
    if (part?.waiting !== undefined && !part.contains(relatedTarget)) setTimeout(() => show(part, part.waiting));
  });
  root.addEventListener('change', ({ target }) => {
    if (target.dataset.follows === undefined) return;
    listen(root, target.dataset.follows + encodeURIComponent(target.value));
    for (const told of root.querySelectorAll(`input[name="${target.name}"]`)) told.value = target.value;
  });
}

/** What is live on the page now; a part of it may have been drawn anew. */
function look() {
  for (const [root, { source }] of streams) {
    if (root.isConnected) continue;
    source.close();
    streams.delete(root);
  }
  for (const root of document.querySelectorAll('[data-live]')) if (!streams.has(root)) start(root);
  for (const button of document.querySelectorAll('[data-pause]')) button.hidden = false;
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('[data-pause]');
  if (!button) return;
  for (const [root, { address, source }] of streams) {
    if (source.readyState === EventSource.CLOSED) listen(root, address);
    else source.close();
  }
  [button.textContent, button.dataset.pause] = [button.dataset.pause, button.textContent];
});
document.addEventListener('htmx:after:swap', look);
addEventListener('pagehide', () => {
  for (const { source } of streams.values()) source.close();
});
look();
