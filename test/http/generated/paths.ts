// Made from /openapi.json by test/support/openapi-types.ts; `vitest -u` writes it again.

export interface paths {
  '/v1/webhooks': {
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Webhook'])[] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { 'Idempotency-Key'?: string }; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'url': string; 'eventos': (components['schemas']['NomeDeEvento'])[] } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['WebhookCriado'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_WEBHOOKS" | "IDEMPOTENCIA_EM_ANDAMENTO" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        422: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "IDEMPOTENCIA_DIVERGENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{id}': {
    get: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Webhook'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'url'?: string; 'eventos'?: (components['schemas']['NomeDeEvento'])[]; 'ativo'?: boolean; 'retomar'?: boolean } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Webhook'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_WEBHOOKS" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    trace?: never;
  };
  '/v1/webhooks/{id}/segredo': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { 'id': string; 'secret': string; 'anterior_ate': string } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{id}/segredo/anterior': {
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: Record<string, unknown>; content?: never };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{id}/reenvios': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'desde': (string); 'ate'?: (string); 'status'?: ("pendente" | "entregue" | "erro" | "suspensa") | (("pendente" | "entregue" | "erro" | "suspensa")[]); 'simular'?: boolean; 'cursor'?: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'simulado': boolean; 'entregas': number; 'em_andamento': number; 'proximo_cursor': (string) | (null) } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{id}/teste': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['EntregaComTentativas'] } };
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['EntregaComTentativas'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{id}/entregas': {
    get: {
      parameters: { query?: { 'status'?: "pendente" | "entregue" | "erro" | "suspensa"; 'evento'?: components['schemas']['NomeEntregue']; 'emprestimo_id'?: string; 'desde'?: (string); 'ate'?: (string); 'cursor'?: string; 'limite'?: number }; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'itens': (components['schemas']['Entrega'])[]; 'proximo_cursor': (string) | (null) } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/entregas/{id}': {
    get: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['EntregaComTentativas'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/entregas/{id}/reenvio': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['EntregaComTentativas'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/eventos': {
    get: {
      parameters: { query?: { 'depois'?: string; 'evento'?: "autorizacao.confirmada" | "margem.concluida" | "margem.falhou" | "emprestimo.emitido" | "emprestimo.emissao_falhou" | "assinatura.concluida" | "assinatura.pendente" | "docs_registry.pendente" | "docs_registry.recebido" | "averbacao.concluida" | "averbacao.falhou" | "desembolso.liquidado" | "desembolso.falhou" | "trabalhador.desligado" | "trabalhador.vinculo_novo" | "repasse.processado"; 'limite'?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'itens': ({ 'evento_id': string; 'emprestimo_id': (string) | (null); 'versao_emprestimo': (number) | (null); 'entregas': ({ 'id': string; 'webhook_id': string; 'status': "pendente" | "entregue" | "erro" | "suspensa" })[]; 'envelope': { 'evento': "autorizacao.confirmada" | "margem.concluida" | "margem.falhou" | "emprestimo.emitido" | "emprestimo.emissao_falhou" | "assinatura.concluida" | "assinatura.pendente" | "docs_registry.pendente" | "docs_registry.recebido" | "averbacao.concluida" | "averbacao.falhou" | "desembolso.liquidado" | "desembolso.falhou" | "trabalhador.desligado" | "trabalhador.vinculo_novo" | "repasse.processado"; 'timestamp': string; 'parceiro_id'?: string; 'data': Record<string, unknown> } })[]; 'proximo_cursor': (string) | (null); 'ha_mais': boolean } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/emprestimos': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header: { 'Idempotency-Key': string }; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'cpf_trabalhador': string; 'nome_trabalhador': string; 'matricula': string; 'cnpj_empregador': string; 'valor_liberado': number; 'numero_parcelas': number; 'valor_parcela': number; 'consulta_margem_id'?: string } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "IDEMPOTENCIA_EM_ANDAMENTO" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        422: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "IDEMPOTENCIA_DIVERGENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/emprestimos/{id}': {
    get: {
      parameters: { query?: { 'versao'?: number }; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/emprestimos/{id}/averbacao': {
    get: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Averbacao'] } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Averbacao'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/emprestimos/{id}/documentos': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'documentos': ({ 'tipo': components['schemas']['TipoDeDocumento']; 'nome_arquivo'?: string; 'conteudo_base64': string })[] } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/emprestimos/{id}/documentos-dataprev': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'documentos': ({ 'tipo': components['schemas']['TipoDeDocumento']; 'nome_arquivo'?: string; 'conteudo_base64': string })[] } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/emprestimos/{id}/documentos/{tipo}': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string; 'tipo': components['schemas']['TipoDeDocumento'] }; cookie?: never };
      requestBody: { content: { 'application/json': { 'nome_arquivo'?: string; 'conteudo_base64': string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/margem/consulta': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: { 'skip_cache'?: "true" | "false" }; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'cpf': string; 'numero_inscricao_empregador': string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Margem'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        422: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "MARGEM_NEGOCIAL" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        502: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "MARGEM_UPSTREAM" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vinculos/desligamentos': {
    get: {
      parameters: { query?: { 'desde'?: (string); 'ate'?: (string); 'cursor'?: string; 'limite'?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'itens': (components['schemas']['Desligamento'])[]; 'proximo_cursor': (string) | (null) } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/vinculos/novos': {
    get: {
      parameters: { query?: { 'desde'?: (string); 'ate'?: (string); 'cursor'?: string; 'limite'?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'itens': (components['schemas']['VinculoNovo'])[]; 'proximo_cursor': (string) | (null) } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auditoria/tentativas': {
    get: {
      parameters: { query?: { 'parceiro_id'?: string; 'emprestimo_id'?: string; 'evento'?: components['schemas']['NomeEntregue']; 'entrega_id'?: string; 'webhook_id'?: string; 'resultado'?: "entregue" | "resposta_nao_2xx" | "tempo_esgotado" | "erro_conexao" | "erro_tls" | "destino_recusado" | "desconhecido"; 'desde'?: (string); 'ate'?: (string); 'cursor'?: string; 'limite'?: number; 'formato'?: "json" | "ndjson" | "csv" }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'itens': ({ 'entrega_id': string; 'numero': number; 'atrasada': boolean; 'parceiro_id': string; 'webhook_id': string; 'evento_id': (string) | (null); 'evento': (components['schemas']['NomeEntregue']) | (null); 'emprestimo_id': (string) | (null); 'inicio': string; 'registrada_em': string; 'duracao_ms': (number) | (null); 'resultado': "entregue" | "resposta_nao_2xx" | "tempo_esgotado" | "erro_conexao" | "erro_tls" | "destino_recusado" | "desconhecido"; 'status_http': (number) | (null); 'url': string; 'endereco': (string) | (null); 'chave_id': (string) | (null); 'poller': string; 'erro': (string) | (null); 'resposta': (string) | (null) })[]; 'proximo_cursor': (string) | (null) }; 'application/x-ndjson': string; 'text/csv': string } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auditoria/balanco': {
    get: {
      parameters: { query: { 'de': string; 'ate': string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'de': string; 'ate': string; 'fecha': boolean; 'linhas': ({ 'dia': string; 'parceiro_id': string; 'eventos': number; 'esperadas': number; 'entregue': number; 'pendente': number; 'erro': number; 'suspensa': number })[]; 'total': { 'eventos': number; 'esperadas': number; 'entregue': number; 'pendente': number; 'erro': number; 'suspensa': number }; 'diferencas': ({ 'tipo': "entrega_ausente" | "entrega_excedente" | "fan_out_divergente" | "mensagem_ausente" | "entrega_sem_evento"; 'dia': string; 'parceiro_id': (string) | (null); 'evento_id': string; 'evento': (string) | (null); 'webhook_id': (string) | (null); 'entrega_id': (string) | (null); 'detalhe': string })[]; 'total_diferencas': number } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auditoria/entregas/{id}/prova': {
    get: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'formato': "carteiro-prova-1"; 'gerada_em': string; 'entrega': { 'id': string; 'evento_id': string; 'webhook_id': string; 'parceiro_id': string; 'status': "pendente" | "entregue" | "erro" | "suspensa"; 'criada_em': string; 'concluida_em': (string) | (null) }; 'corpo_base64': string; 'corpo_sha256': string; 'evento': ({ 'linha': string; 'folha': string; 'selo': (number) | (null) }) | (null); 'tentativas': ({ 'linha': string; 'folha': string; 'selo': (number) | (null) })[]; 'pedidos': ({ 'linha': string; 'folha': string; 'selo': (number) | (null) })[]; 'lotes': ({ 'numero': number; 'grupos': (string)[]; 'abertos': ({ 'grupo': number; 'folhas': (string)[] })[] })[]; 'cadeia': ({ 'numero': number; 'primeira_transacao': number; 'transacao_final': number; 'linhas': number; 'resumo': string; 'anterior': string; 'hash': string; 'selado_em': string })[]; 'cadeia_completa': boolean; 'cabeca': ({ 'numero': number; 'hash': string }) | (null) } } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/emprestimos/{id}/assinatura': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/emprestimos/{id}/averbacao': {
    get?: never;
    put: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'resultado': "concluida" | "falhou"; 'erro'?: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'emprestimo_id': string; 'resultado': "concluida" | "falhou"; 'erro': (string) | (null) } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/emprestimos/{id}/desembolso': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'resultado': "liquidado" | "falhou"; 'motivo'?: string; 'data_liberacao'?: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/tempo': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'avancar_segundos': number } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'entregas_adiantadas': number } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/emprestimos/{id}/emissao': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { 'id': string }; cookie?: never };
      requestBody: { content: { 'application/json': { 'resultado': "emitida" | "falhou"; 'motivo'?: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': components['schemas']['Emprestimo'] } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/autorizacoes': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'cpf_trabalhador': string; 'origem': "web" | "mensageria" } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { 'autorizacao_id': string; 'cpf_trabalhador': string; 'status': "confirmada"; 'origem': "web" | "mensageria" } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/margem': {
    get?: never;
    put: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'cpf': string; 'numero_inscricao_empregador': string; 'valor_total_vencimentos'?: number; 'valor_margem_disponivel'?: number; 'falha'?: "upstream" | "negocial"; 'erro'?: string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'cpf': string; 'numero_inscricao_empregador': string; 'valor_total_vencimentos': (number) | (null); 'valor_margem_disponivel': (number) | (null); 'falha': ("upstream" | "negocial") | (null); 'erro': (string) | (null) } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/vinculos/desligamentos': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'emprestimo_id': string; 'data_desligamento': string; 'motivo_desligamento': components['schemas']['CodigoEDescricao'] } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { 'id': string; 'emprestimo_id': string; 'data_desligamento': string; 'motivo_desligamento': components['schemas']['CodigoEDescricao'] } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/vinculos/novos': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'emprestimo_id': string; 'novo_empregador': { 'cnpj': string; 'nome': string }; 'data_admissao': string; 'margem_disponivel': number } } };
      responses: {
        201: { headers: Record<string, unknown>; content: { 'application/json': { 'id': string; 'emprestimo_id': string; 'novo_empregador': { 'cnpj': string; 'nome': string }; 'data_admissao': string; 'margem_disponivel': number } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        404: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "NAO_ENCONTRADO" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/sincronizacao': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'desligamentos': number; 'novos': number } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/sandbox/repasses': {
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { 'application/json': { 'competencia': string } } };
      responses: {
        200: { headers: Record<string, unknown>; content: { 'application/json': { 'repasse_id': string; 'competencia': string; 'total_parcelas': number; 'numero_ccbs': number; 'valor_total': number; 'fechado_em': string; 'ja_fechado': boolean } } };
        400: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_VALIDACAO" }) } };
        401: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CREDENCIAL_INVALIDA" }) } };
        403: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ESCOPO_INSUFICIENTE" }) } };
        409: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TRANSICAO_INVALIDA" }) } };
        413: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "CORPO_MUITO_GRANDE" }) } };
        415: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "TIPO_NAO_SUPORTADO" }) } };
        429: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "LIMITE_DE_REQUISICOES" }) } };
        500: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "ERRO_INTERNO" }) } };
        503: { headers: Record<string, unknown>; content: { 'application/json': (components['schemas']['Erro']) & ({ 'codigo': "INDISPONIVEL" }) } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}

export interface components {
  schemas: {
    'Averbacao': { 'id': string; 'emprestimo_id': string; 'status': "processando" | "concluida" | "falhou"; 'protocolo_registry': (string) | (null); 'erro': (string) | (null); 'criada_em': string; 'concluida_em': (string) | (null) };
    'CodigoEDescricao': { 'codigo': string; 'descricao': string };
    'Desligamento': { 'emprestimo_id': string; 'numero_emprestimo': string; 'cpf_trabalhador': string; 'matricula': string; 'nome_trabalhador': string; 'data_desligamento': string; 'motivo_desligamento': components['schemas']['CodigoEDescricao']; 'situacao_emprestimo': components['schemas']['CodigoEDescricao']; 'detectado_em': string };
    'DetalheDeErro': { 'campo': string; 'mensagem': string };
    'Emprestimo': { 'id': string; 'numero': string; 'status': "emitindo" | "em_assinatura" | "aguardando_averbacao" | "averbada" | "desembolsada" | "cancelada" | "encerrada_desligamento"; 'proxima_acao': ("aguardar_emissao" | "assinar" | "enviar_documentos" | "averbar" | "desembolsar") | (null); 'cpf_trabalhador': string; 'nome_trabalhador': string; 'matricula': string; 'cnpj_empregador': string; 'tipo_assinatura': "internal" | "externa"; 'entrega_documentos': "agrupada" | "diferida"; 'valor_liberado': number; 'numero_parcelas': number; 'valor_parcela': number; 'ccb_assinada_recebida': boolean; 'averbacao': (components['schemas']['Averbacao']) | (null); 'data_liberacao': (string) | (null); 'entrega_docs_registry': (components['schemas']['EntregaDeDocumentos']) | (null); 'versao': number; 'criado_em': string; 'atualizado_em': string };
    'Entrega': { 'id': string; 'webhook_id': string; 'evento_id': string; 'evento': components['schemas']['NomeEntregue']; 'emprestimo_id': (string) | (null); 'versao_emprestimo': (number) | (null); 'status': "pendente" | "entregue" | "erro" | "suspensa"; 'total_tentativas': number; 'em_andamento': boolean; 'proxima_tentativa_em': (string) | (null); 'criada_em': string; 'concluida_em': (string) | (null) };
    'EntregaComTentativas': { 'id': string; 'webhook_id': string; 'evento_id': string; 'evento': components['schemas']['NomeEntregue']; 'emprestimo_id': (string) | (null); 'versao_emprestimo': (number) | (null); 'status': "pendente" | "entregue" | "erro" | "suspensa"; 'total_tentativas': number; 'em_andamento': boolean; 'proxima_tentativa_em': (string) | (null); 'criada_em': string; 'concluida_em': (string) | (null); 'tentativas': (components['schemas']['Tentativa'])[] };
    'EntregaDeDocumentos': { 'situacao': "aguardando" | "recebido"; 'prazo': string; 'documentos_pendentes': (components['schemas']['TipoDeDocumento'])[]; 'recebido_em': (string) | (null) };
    'Erro': { 'codigo': "ERRO_VALIDACAO" | "CREDENCIAL_INVALIDA" | "ESCOPO_INSUFICIENTE" | "NAO_ENCONTRADO" | "METODO_NAO_PERMITIDO" | "TRANSICAO_INVALIDA" | "IDEMPOTENCIA_EM_ANDAMENTO" | "LIMITE_DE_WEBHOOKS" | "CORPO_MUITO_GRANDE" | "TIPO_NAO_SUPORTADO" | "IDEMPOTENCIA_DIVERGENTE" | "MARGEM_NEGOCIAL" | "LIMITE_DE_REQUISICOES" | "ERRO_INTERNO" | "MARGEM_UPSTREAM" | "INDISPONIVEL"; 'mensagem': string; 'detalhes'?: (components['schemas']['DetalheDeErro'])[]; 'requisicao_id': string };
    'EventoAssinaturaConcluida': { 'evento': "assinatura.concluida"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'tipo_assinatura': "internal" | "externa" } };
    'EventoAssinaturaPendente': { 'evento': "assinatura.pendente"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero_emprestimo': string; 'ccb_assinada_recebida': boolean } };
    'EventoAutorizacaoConfirmada': { 'evento': "autorizacao.confirmada"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'autorizacao_id': string; 'cpf_trabalhador': string; 'status': "confirmada"; 'origem': "web" | "mensageria" } };
    'EventoAverbacaoConcluida': { 'evento': "averbacao.concluida"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'averbacao_id': string; 'protocolo_registry': string } };
    'EventoAverbacaoFalhou': { 'evento': "averbacao.falhou"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'averbacao_id': string; 'erro': string } };
    'EventoDesembolsoFalhou': { 'evento': "desembolso.falhou"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero_emprestimo': string; 'motivo': string } };
    'EventoDesembolsoLiquidado': { 'evento': "desembolso.liquidado"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero_emprestimo': string; 'valor_liberado': number; 'data_liberacao': string } };
    'EventoDocsRegistryPendente': { 'evento': "docs_registry.pendente"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero_emprestimo': string; 'prazo': string } };
    'EventoDocsRegistryRecebido': { 'evento': "docs_registry.recebido"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero_emprestimo': string } };
    'EventoEmprestimoEmissaoFalhou': { 'evento': "emprestimo.emissao_falhou"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'motivo': string } };
    'EventoEmprestimoEmitido': { 'evento': "emprestimo.emitido"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero': string; 'valor_liberado': number } };
    'EventoMargemConcluida': { 'evento': "margem.concluida"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'cpf_trabalhador': string; 'cnpj_empregador': string; 'consulta_margem_id': string; 'salario_bruto': number; 'margem_disponivel': number; 'margem_percentual': (number) | (null) } };
    'EventoMargemFalhou': { 'evento': "margem.falhou"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'cpf_trabalhador': string; 'cnpj_empregador': string; 'tipo_erro': "upstream" | "negocial"; 'erro': string } };
    'EventoRepasseProcessado': { 'evento': "repasse.processado"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'repasse_id': string; 'competencia': string; 'total_parcelas': number; 'numero_ccbs': number; 'valor_total': number; 'fechado_em': string } };
    'EventoTrabalhadorDesligado': { 'evento': "trabalhador.desligado"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'emprestimo_id': string; 'numero_emprestimo': string; 'cpf_trabalhador': string; 'matricula': string; 'nome_trabalhador': string; 'data_desligamento': string; 'motivo_desligamento': components['schemas']['CodigoEDescricao']; 'situacao_emprestimo': components['schemas']['CodigoEDescricao'] } };
    'EventoTrabalhadorVinculoNovo': { 'evento': "trabalhador.vinculo_novo"; 'timestamp': string; 'parceiro_id'?: string; 'data': { 'cpf_trabalhador': string; 'nome_trabalhador': string; 'novo_empregador': { 'cnpj': string; 'nome': string }; 'data_admissao': string; 'margem_disponivel': number; 'emprestimo_id': string; 'saldo_pendente': number; 'averbavel': boolean } };
    'Margem': { 'consulta_margem_id': string; 'cpf': string; 'numero_inscricao_empregador': string; 'valor_total_vencimentos': number; 'valor_margem_disponivel': number; 'consultada_em': string; 'origem': "registry" | "cache" };
    'NomeDeEvento': "autorizacao.confirmada" | "margem.concluida" | "margem.falhou" | "emprestimo.emitido" | "emprestimo.emissao_falhou" | "assinatura.concluida" | "assinatura.pendente" | "docs_registry.pendente" | "docs_registry.recebido" | "averbacao.concluida" | "averbacao.falhou" | "desembolso.liquidado" | "desembolso.falhou" | "trabalhador.desligado" | "trabalhador.vinculo_novo" | "repasse.processado";
    'NomeEntregue': "autorizacao.confirmada" | "margem.concluida" | "margem.falhou" | "emprestimo.emitido" | "emprestimo.emissao_falhou" | "assinatura.concluida" | "assinatura.pendente" | "docs_registry.pendente" | "docs_registry.recebido" | "averbacao.concluida" | "averbacao.falhou" | "desembolso.liquidado" | "desembolso.falhou" | "trabalhador.desligado" | "trabalhador.vinculo_novo" | "repasse.processado" | "webhook.teste";
    'Tentativa': { 'numero': number; 'inicio': string; 'duracao_ms': (number) | (null); 'resultado': "entregue" | "resposta_nao_2xx" | "tempo_esgotado" | "erro_conexao" | "erro_tls" | "destino_recusado" | "desconhecido"; 'status_http': (number) | (null); 'erro': (string) | (null); 'resposta': (string) | (null); 'atrasada': boolean };
    'TipoDeDocumento': "ccb_assinada" | "selfie" | "documento_frente" | "documento_verso" | "evidencias";
    'VinculoNovo': { 'cpf_trabalhador': string; 'nome_trabalhador': string; 'novo_empregador': { 'cnpj': string; 'nome': string }; 'data_admissao': string; 'margem_disponivel': number; 'emprestimo_id': string; 'saldo_pendente': number; 'averbavel': boolean; 'detectado_em': string };
    'Webhook': { 'id': string; 'url': string; 'eventos': (components['schemas']['NomeDeEvento'])[]; 'ativo': boolean; 'criado_em': string };
    'WebhookCriado': { 'id': string; 'url': string; 'eventos': (components['schemas']['NomeDeEvento'])[]; 'ativo': boolean; 'criado_em': string; 'secret'?: string };
  };
}
