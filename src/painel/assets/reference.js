// Swagger UI in the page's theme; it asks this host alone, and forgets a token with the page.
const place = document.getElementById('reference');
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const { theme } = document.documentElement.dataset;
const paint = () =>
  document.documentElement.classList.toggle('dark-mode', theme === 'escuro' || (theme === 'auto' && dark.matches));
dark.addEventListener('change', paint);
paint();

/** What is found in `whole` at `path`, with all that it refers to, at the same places. */
function cutOut(whole, path) {
  const part = { ...whole, paths: {}, webhooks: {}, components: {} };
  const keep = (keys) => {
    const name = keys.at(-1);
    const inWhole = keys.slice(0, -1).reduce((value, key) => value[key], whole);
    const inPart = keys.slice(0, -1).reduce((value, key) => (value[key] ??= {}), part);
    if (name in inPart) return;
    inPart[name] = inWhole[name];
    JSON.stringify(inWhole[name], (key, value) => {
      if (key === '$ref') keep(value.split('/').slice(1));
      return value;
    });
  };
  keep(path);
  return part;
}

const { fn } = SwaggerUIBundle({
  url: place.dataset.url,
  domNode: place,
  deepLinking: true,
  docExpansion: place.dataset.expansion,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
});

// To show one operation, Swagger UI normalizes the whole of what it is given, which took seconds: it is given a part.
const { resolveSubtree } = fn;
fn.resolveSubtree = (whole, path, options) => resolveSubtree(cutOut(whole, path), path, options);
