/**
 * Listens to the stream that a part of the page names: `serie` goes on as an event of the document, every other message is
 * the new content of the part of its name, made by the server as the page itself is.
 */
for (const root of document.querySelectorAll('[data-live]')) {
  const source = new EventSource(root.dataset.live);
  source.addEventListener('serie', ({ data }) => {
    document.dispatchEvent(new CustomEvent('carteiro:serie', { detail: JSON.parse(data) }));
  });
  for (const part of root.querySelectorAll('[data-part]')) {
    source.addEventListener(part.dataset.part, ({ data }) => {
      part.innerHTML = data;
    });
  }
  addEventListener('pagehide', () => source.close());
}
