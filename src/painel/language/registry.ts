import type { Words } from './words.ts';

export const registry = {
  title: { pt: 'Ponte para o registry', en: 'Bridge to the registry' },
  intro: [
    {
      pt: 'Para o credor: o serviço que o Carteiro pergunta, e que fala com o registry de dados de emprego. `REGISTRY_URL` o nomeia. O repositório tem um exemplo em Python, `src/registry/example/bridge.py`.',
      en: 'For the lender: the service that Carteiro asks, and that speaks to the employment-data registry. `REGISTRY_URL` names it. The repository has an example in Python, `src/registry/example/bridge.py`.',
    },
    {
      pt: '`registry serve` sobe o registry simulado como esse serviço; `registry check URL` confere o seu, regra por regra.',
      en: '`registry serve` runs the simulated registry as that service; `registry check URL` checks yours, rule by rule.',
    },
  ],
} satisfies Words;
