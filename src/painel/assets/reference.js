// Swagger UI in the page's theme; it asks this host alone, and forgets a token with the page.
const place = document.getElementById('reference');
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const { theme } = document.documentElement.dataset;
const paint = () =>
  document.documentElement.classList.toggle('dark-mode', theme === 'escuro' || (theme === 'auto' && dark.matches));
dark.addEventListener('change', paint);
paint();
SwaggerUIBundle({
  url: place.dataset.url,
  domNode: place,
  deepLinking: true,
  docExpansion: place.dataset.expansion,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
});
