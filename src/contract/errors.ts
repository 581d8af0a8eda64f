import { z } from 'zod';

/** Every error code of the interface with its HTTP status. */
export const ERROR_STATUS = {
  ERRO_VALIDACAO: 400,
  CREDENCIAL_INVALIDA: 401,
  ESCOPO_INSUFICIENTE: 403,
  NAO_ENCONTRADO: 404,
  METODO_NAO_PERMITIDO: 405,
  TRANSICAO_INVALIDA: 409,
  CURSOR_ADIANTE: 409,
  IDEMPOTENCIA_EM_ANDAMENTO: 409,
  LIMITE_DE_WEBHOOKS: 409,
  CORPO_MUITO_GRANDE: 413,
  TIPO_NAO_SUPORTADO: 415,
  HOST_NAO_ATENDIDO: 421,
  IDEMPOTENCIA_DIVERGENTE: 422,
  MARGEM_NEGOCIAL: 422,
  LIMITE_DE_REQUISICOES: 429,
  ERRO_INTERNO: 500,
  MARGEM_UPSTREAM: 502,
  INDISPONIVEL: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One invalid field: `campo` is a path such as `eventos[1]`. */
const errorDetail = z.object({ campo: z.string().meta({ examples: ['eventos[1]'] }), mensagem: z.string() }).meta({
  id: 'DetalheDeErro',
  text: { pt: 'Um campo e a regra que ele não cumpre', en: 'A field and the rule that it breaks' },
});
export type ErrorDetail = z.infer<typeof errorDetail>;

export const errorBody = z
  .object({
    codigo: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    mensagem: z.string(),
    detalhes: z.array(errorDetail).optional(),
    requisicao_id: z.uuid(),
  })
  .meta({ id: 'Erro', text: { pt: 'O corpo de toda recusa', en: 'The body of every refusal' } });
export type ErrorBody = z.infer<typeof errorBody>;
