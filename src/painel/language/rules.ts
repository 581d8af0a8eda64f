/** The page /docs/regras: the contract's rules of events beyond their fields. */
import type { Words } from './words.ts';

export const rules = {
  title: { pt: 'Regras dos eventos', en: 'Rules of the events' },
  intro: {
    pt: 'O que um nome de evento não diz sozinho. Cada regra é do contrato.',
    en: 'What the name of an event does not tell by itself. Each rule is of the contract.',
  },
  sections: [
    {
      title: { pt: 'Margem', en: 'Margin' },
      texts: [
        {
          pt: '`margem.concluida` não confirma a sua consulta: `POST /v1/margem/consulta` é síncrono, e o 200 dele é a confirmação. O evento é para consultas que você não fez, como as de uma proposta ou renegociação.',
          en: '`margem.concluida` does not confirm your own query: `POST /v1/margem/consulta` is synchronous, and its 200 is the confirmation. The event is for queries that you did not make, such as those of a proposal or a renegotiation.',
        },
        {
          pt: 'Uma consulta recente (24 h, se o operador não disser outra coisa) do mesmo CPF e empregador é reaproveitada: o registry não é chamado, nada é cobrado, nenhum evento sai, e a resposta é completa. `skip_cache=true` força outra. Duas chamadas seguidas dão o evento na primeira e não na segunda.',
          en: 'A recent query (24 h, unless the operator says otherwise) of the same CPF and employer is reused: the registry is not called, nothing is charged, no event is emitted, and the answer is whole. `skip_cache=true` forces another. Two calls in a row give the event on the first and not on the second.',
        },
        {
          pt: 'Os campos do evento e os da resposta têm nomes diferentes, que não mudarão:',
          en: 'The fields of the event and those of the answer have different names, which will not change:',
        },
      ],
    },
    {
      title: { pt: 'Assinatura e documentos', en: 'Signing and documents' },
      texts: [
        {
          pt: '`assinatura.concluida` com assinatura externa quer dizer que o pacote assinado inteiro está arquivado; uma mudança de status nunca a emite. Não é o gatilho da averbação: o gatilho é `assinatura.pendente`, ou simplesmente pedir a averbação.',
          en: '`assinatura.concluida` with external signing means that the whole signed package is archived; a change of status never emits it. It is not the trigger of the registration: the trigger is `assinatura.pendente`, or simply asking for the registration.',
        },
        {
          pt: 'Entrega agrupada: ela sai quando o pacote inteiro é enviado a `POST /v1/emprestimos/{id}/documentos`, antes da averbação. Entrega diferida: a averbação não precisa de documento; sai `assinatura.pendente` (`ccb_assinada_recebida` diz se a CCB foi adiantada), e `assinatura.concluida` só com a última peça, junto com `docs_registry.recebido`.',
          en: 'Grouped delivery: it is emitted when the whole package is sent to `POST /v1/emprestimos/{id}/documentos`, before the registration. Deferred delivery: the registration needs no document; `assinatura.pendente` is emitted (`ccb_assinada_recebida` tells whether the CCB was sent ahead), and `assinatura.concluida` only with the last piece, together with `docs_registry.recebido`.',
        },
        {
          pt: '`docs_registry.pendente` não existe na entrega agrupada nem com assinatura interna. Ele não bloqueia nem substitui o desembolso. O prazo é de 15 dias, se o operador não disser outra coisa; o evento o traz em `prazo`.',
          en: '`docs_registry.pendente` does not exist with grouped delivery or internal signing. It neither blocks nor replaces the disbursement. The deadline is 15 days, unless the operator says otherwise; the event has it in `prazo`.',
        },
      ],
    },
    {
      title: { pt: 'Emissão', en: 'Issuance' },
      texts: [
        {
          pt: 'Depois de um 202 chega exatamente um de `emprestimo.emitido` e `emprestimo.emissao_falhou`. Até lá o empréstimo mostra `emitindo` e `aguardar_emissao`. O número definitivo vem em `emprestimo.emitido` e substitui o que estava guardado.',
          en: 'After a 202 exactly one of `emprestimo.emitido` and `emprestimo.emissao_falhou` arrives. Until then the loan shows `emitindo` and `aguardar_emissao`. The definitive number comes in `emprestimo.emitido` and replaces the one stored before.',
        },
        {
          pt: 'Um empréstimo pode ficar em `emitindo` à espera da operação. Depois de algumas horas, fale com o suporte com o `emprestimo_id`, e não emita de novo por conta própria. Depois de `emissao_falhou`, emita com outra `Idempotency-Key`.',
          en: 'A loan may stay in `emitindo` and wait for the operator. After a few hours, contact support with the `emprestimo_id`, and do not reissue on your own. After `emissao_falhou`, reissue with another `Idempotency-Key`.',
        },
      ],
    },
    {
      title: { pt: 'Vínculos, estado e configuração', en: 'Bonds, state and configuration' },
      texts: [
        {
          pt: '`trabalhador.desligado` e `trabalhador.vinculo_novo` saem da sincronização noturna, e só na primeira vez em que cada registro aparece.',
          en: '`trabalhador.desligado` and `trabalhador.vinculo_novo` come from the nightly sync, and only the first time that each record appears.',
        },
        {
          pt: 'Reconcilie lendo as duas dimensões de `GET /v1/emprestimos/{id}`: `status` com `proxima_acao`, e `entrega_docs_registry`. O desembolso liquidado não fecha a dos documentos; só `docs_registry.recebido` a fecha.',
          en: 'Reconcile by reading both dimensions of `GET /v1/emprestimos/{id}`: `status` with `proxima_acao`, and `entrega_docs_registry`. A settled disbursement does not close that of the documents; only `docs_registry.recebido` does.',
        },
        {
          pt: 'Um evento condicional depende da conta ou do caminho, e pode nunca chegar: não espere por ele. A conta (assinatura, documentos, emissão) é o operador que configura, não a API.',
          en: 'A conditional event depends on the account or the path, and may never arrive: do not wait for it. The account (signing, documents, issuance) is set by the operator, not over the API.',
        },
        {
          pt: 'Os eventos da API de leilão não têm `parceiro_id` na raiz: um receptor das duas famílias não pode exigi-lo. `repasse.pago` e `autorizacao.expirada` são nomes reservados e nunca chegam.',
          en: 'The events of the auction API have no `parceiro_id` in the root: a receiver of both families must not demand it. `repasse.pago` and `autorizacao.expirada` are reserved names and never arrive.',
        },
        {
          pt: 'Avisos por e-mail ou chat: `atraso` sai quando falha a quarta tentativa, 21 min depois da primeira; `erro`, quando falha a sexta, 7 h 21 min depois.',
          en: 'Alerts by e-mail or chat: `atraso` is sent when the fourth attempt fails, 21 min after the first; `erro` when the sixth fails, 7 h 21 min after it.',
        },
      ],
    },
  ],
  ofEvent: { pt: 'No evento', en: 'In the event' },
  ofAnswer: { pt: 'Na resposta da consulta', en: 'In the answer of the query' },
  derived: {
    pt: '`valor_margem_disponivel` / `valor_total_vencimentos`; `null` quando os vencimentos são zero',
    en: '`valor_margem_disponivel` / `valor_total_vencimentos`; `null` where the earnings are zero',
  },
  fourteen: {
    pt: '`numero_inscricao_empregador`, os 14 caracteres',
    en: '`numero_inscricao_empregador`, all 14 characters',
  },
} satisfies Words;
