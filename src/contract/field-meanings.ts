/**
 * What each field of an event's data means, by its name, for description, pages and catalog. `payloads.ts` takes no other field.
 */
import type { Bilingual } from './language.ts';

const meaning = (pt: string, en: string): Bilingual => ({ pt, en });

export const FIELD_MEANINGS = {
  autorizacao_id: meaning('A autorização que o trabalhador aceitou', 'The authorization that the worker accepted'),
  cpf_trabalhador: meaning('O CPF do trabalhador, 11 dígitos', "The worker's CPF, 11 digits"),
  status: meaning('Sempre confirmada', 'Always confirmada'),
  origem: meaning(
    'Por onde o trabalhador aceitou: página ou link de mensagem',
    'Where the worker accepted: page or message link',
  ),
  cnpj_empregador: meaning(
    'O CNPJ do empregador: 12 dígitos ou letras e 2 dígitos',
    "The employer's CNPJ: 12 digits or letters and 2 digits",
  ),
  consulta_margem_id: meaning('A consulta de margem', 'The margin query'),
  salario_bruto: meaning(
    'O salário bruto; valor_total_vencimentos na resposta da consulta',
    "The gross salary; valor_total_vencimentos in the query's answer",
  ),
  margem_disponivel: meaning(
    'Quanto pode ser descontado por mês; valor_margem_disponivel na resposta da consulta',
    "What may be deducted a month; valor_margem_disponivel in the query's answer",
  ),
  margem_percentual: meaning(
    'margem_disponivel dividida por salario_bruto (0.35 é 35 %); null quando o salário é zero',
    'margem_disponivel divided by salario_bruto (0.35 is 35 %); null where the salary is zero',
  ),
  tipo_erro: meaning(
    'upstream: o registry falhou, tente de novo; negocial: o registry recusou, repetir não muda nada',
    'upstream: the registry failed, try again; negocial: the registry refused, and repeating changes nothing',
  ),
  erro: meaning('Por que falhou, em palavras para uma pessoa', 'Why it failed, in words for a person'),
  emprestimo_id: meaning('O empréstimo, como em GET /v1/emprestimos/{id}', 'The loan, as in GET /v1/emprestimos/{id}'),
  numero: meaning('O número definitivo do empréstimo', "The loan's definitive number"),
  numero_emprestimo: meaning('O número do empréstimo, como no contrato', "The loan's number, as on the contract"),
  valor_liberado: meaning('Quanto é transferido ao trabalhador', 'What is transferred to the worker'),
  motivo: meaning('Por que falhou, em palavras para uma pessoa', 'Why it failed, in words for a person'),
  tipo_assinatura: meaning(
    'internal: pelo provedor do serviço; externa: pelo parceiro, que entrega o pacote assinado',
    "internal: by the service's provider; externa: by the partner, who hands in the signed package",
  ),
  ccb_assinada_recebida: meaning('Se a CCB assinada já foi recebida', 'Whether the signed CCB was received already'),
  prazo: meaning('O último dia para entregar os documentos', 'The last day to hand in the documents'),
  averbacao_id: meaning('A averbação; um novo pedido tem outro id', 'The registration; another request has another id'),
  protocolo_registry: meaning(
    'O protocolo que o registry deu à averbação',
    "The registry's protocol of the registration",
  ),
  data_liberacao: meaning('O dia da transferência', 'The day of the transfer'),
  matricula: meaning('A matrícula do trabalhador no empregador', "The worker's number at the employer"),
  nome_trabalhador: meaning('O nome do trabalhador', "The worker's name"),
  data_desligamento: meaning('O último dia do vínculo', 'The last day of the bond'),
  motivo_desligamento: meaning(
    'Por que o vínculo terminou, como o registry diz',
    'Why the bond ended, as the registry says',
  ),
  situacao_emprestimo: meaning('A situação em que o empréstimo ficou', 'The situation that the loan was left in'),
  codigo: meaning('O código', 'The code'),
  descricao: meaning('O que o código quer dizer', 'What the code stands for'),
  novo_empregador: meaning('O empregador que recontratou', 'The employer who hired again'),
  cnpj: meaning('O CNPJ: 12 dígitos ou letras e 2 dígitos', 'The CNPJ: 12 digits or letters and 2 digits'),
  nome: meaning('O nome do empregador', "The employer's name"),
  data_admissao: meaning('O primeiro dia do novo vínculo', 'The first day of the new bond'),
  saldo_pendente: meaning('As parcelas que faltam, somadas', 'The installments that are left, added up'),
  averbavel: meaning(
    'Se a margem comporta a parcela: se vale pedir uma nova averbação',
    'Whether the margin holds the installment: whether to ask for a new registration',
  ),
  repasse_id: meaning('O repasse', 'The settlement'),
  competencia: meaning('O mês do repasse', 'The month of the settlement'),
  total_parcelas: meaning('Quantas parcelas o repasse tem', 'How many installments the settlement has'),
  numero_ccbs: meaning('De quantos empréstimos elas são', 'Of how many loans they are'),
  valor_total: meaning('A soma das parcelas', 'The sum of the installments'),
  fechado_em: meaning('Quando o mês foi fechado', 'When the month was closed'),
  webhook_id: meaning('O webhook que falha', 'The webhook that fails'),
  parceiro_id: meaning('O dono dele', 'Its owner'),
  host: meaning('O host da URL dele; o resto pode conter um token', 'The host of its URL; the rest may hold a token'),
  primeira_falha_em: meaning(
    'A primeira falha desde a última resposta boa',
    'The first failure since the last good answer',
  ),
  falhando_desde: meaning('Quando o serviço o pôs em falhando', 'When the service made it falhando'),
  falhas: meaning('Tentativas que falharam desde então', 'Attempts that failed since then'),
  ultimo_resultado: meaning('O resultado da última tentativa', 'The outcome of the last attempt'),
  ultimo_status_http: meaning('O status HTTP dela; null sem resposta', 'Its HTTP status; null without an answer'),
  desde: meaning(
    'Quando começou a primeira tentativa da primeira delas',
    'When the first attempt of the first of them began',
  ),
  entregas: meaning(
    'Quantas entregas; 1001 quer dizer mais de 1000',
    'How many deliveries; 1001 stands for more than 1000',
  ),
  primeira_entrega_id: meaning(
    'A mais antiga delas: GET /v1/entregas/{id} diz o que houve',
    'The oldest of them: GET /v1/entregas/{id} tells what happened',
  ),
  suspende_em: meaning(
    'Quando será desativado se continuar assim; null onde nada é desativado',
    'When it will be deactivated if it goes on; null where nothing is',
  ),
  suspenso_em: meaning('Quando foi desativado', 'When it was deactivated'),
  o_que_fazer: meaning('O próximo passo, em palavras para uma pessoa', 'What to do next, in words for a person'),
} as const;
