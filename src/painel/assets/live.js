/**
 * Listens to the stream that a part of the page names: `serie` goes on as an event of the document, every other message is
 * the new content of the part of its name, made by the server as the page itself is. A select that `data-follows` names leads to
 * the stream of what it chooses, and tells the other forms of the part.
 */
function listen(root, address) {
  const source = new EventSource(address);
  source.addEventListener('serie', ({ data }) => {
    document.dispatchEvent(new CustomEvent('carteiro:serie', { detail: JSON.parse(data) }));
  });
  for (const part of root.querySelectorAll('[data-part]')) {
    source.addEventListener(part.dataset.part, ({ data }) => {
      part.innerHTML = data;
    });
  }
  return source;
}

for (const root of document.querySelectorAll('[data-live]')) {
  let source = listen(root, root.dataset.live);
  root.addEventListener('change', ({ target }) => {
    if (target.dataset.follows === undefined) return;
    source.close();
    source = listen(root, target.dataset.follows + encodeURIComponent(target.value));
    for (const told of root.querySelectorAll(`input[name="${target.name}"]`)) told.value = target.value;
  });
  addEventListener('pagehide', () => source.close());
}
