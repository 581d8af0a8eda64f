/**
 * Listens to the stream that a part of the page names: `serie` goes on as an event of the document, every other message is
 * the new content of the part of its name, made by the server as the page itself is. A part waits with it while somebody is at
 * a link of it. A select that `data-follows` names leads to the stream of what it chooses, and tells the other forms of the part.
 */
function show(part, data) {
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
  return source;
}

for (const root of document.querySelectorAll('[data-live]')) {
  let address = root.dataset.live;
  let source = listen(root, address);
  for (const part of root.querySelectorAll('[data-part]')) {
    part.addEventListener('focusout', ({ relatedTarget }) => {
      if (part.waiting !== undefined && !part.contains(relatedTarget)) setTimeout(() => show(part, part.waiting));
    });
  }
  root.addEventListener('change', ({ target }) => {
    if (target.dataset.follows === undefined) return;
    source.close();
    address = target.dataset.follows + encodeURIComponent(target.value);
    source = listen(root, address);
    for (const told of root.querySelectorAll(`input[name="${target.name}"]`)) told.value = target.value;
  });
  for (const button of document.querySelectorAll('[data-pause]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      if (source.readyState === EventSource.CLOSED) source = listen(root, address);
      else source.close();
      [button.textContent, button.dataset.pause] = [button.dataset.pause, button.textContent];
    });
  }
  addEventListener('pagehide', () => source.close());
}
