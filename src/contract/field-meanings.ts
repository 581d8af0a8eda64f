/**
 * What each field of an event's data means, by its name, for description, pages and catalog. `payloads.ts` takes no other field.
 */
import type { Bilingual } from './language.ts';

const told = (pt: string, en: string): Bilingual => ({ pt, en });

export const FIELD_MEANINGS = {
  autorizacao_id: told('A autorização que o trabalhador aceitou', 'The authorization that the worker accepted'),
  cpf_trabalhador: told('O CPF do trabalhador, 11 dígitos', "The worker's CPF, 11 digits"),
  status: told('Sempre confirmada', 'Always confirmada'),
  origem: told(
    'Por onde o trabalhador aceitou: página ou link de mensagem',
    'Where the worker accepted: page or message link',
  ),
  cnpj_empregador: told(
    'O CNPJ do empregador: 12 dígitos ou letras e 2 dígitos',
    "The employer's CNPJ: 12 digits or letters and 2 digits",
  ),
  consulta_margem_id: told('A consulta de margem', 'The margin query'),
  salario_bruto: told(
    'O salário bruto; valor_total_vencimentos na resposta da consulta',
    "The gross salary; valor_total_vencimentos in the query's answer",
  ),
  margem_disponivel: told(
    'Quanto pode ser descontado por mês; valor_margem_disponivel na resposta da consulta',
    "What may be deducted a month; valor_margem_disponivel in the query's answer",
  ),
  margem_percentual: told(
    'margem_disponivel dividida por salario_bruto (0.35 é 35 %); null quando o salário é zero',
    'margem_disponivel divided by salario_bruto (0.35 is 35 %); null where the salary is zero',
  ),
  tipo_erro: told(
    'upstream: o registry falhou, tente de novo; negocial: o registry recusou, repetir não muda nada',
    'upstream: the registry failed, try again; negocial: the registry refused, and repeating changes nothing',
  ),
  erro: told('Por que falhou, em palavras para uma pessoa', 'Why it failed, in words for a person'),
  emprestimo_id: told('O empréstimo, como em GET /v1/emprestimos/{id}', 'The loan, as in GET /v1/emprestimos/{id}'),
  numero: told('O número definitivo do empréstimo', "The loan's definitive number"),
  numero_emprestimo: told('O número do empréstimo, como no contrato', "The loan's number, as on the contract"),
  valor_liberado: told('Quanto é transferido ao trabalhador', 'What is transferred to the worker'),
  motivo: told('Por que falhou, em palavras para uma pessoa', 'Why it failed, in words for a person'),
  tipo_assinatura: told(
    'internal: pelo provedor do serviço; externa: pelo parceiro, que entrega o pacote assinado',
    "internal: by the service's provider; externa: by the partner, who hands in the signed package",
  ),
  ccb_assinada_recebida: told('Se a CCB assinada já foi recebida', 'Whether the signed CCB was received already'),
  prazo: told('O último dia para entregar os documentos', 'The last day to hand in the documents'),
  averbacao_id: told('A averbação; um novo pedido tem outro id', 'The registration; another request has another id'),
  protocolo_registry: told('O protocolo que o registry deu à averbação', "The registry's protocol of the registration"),
  data_liberacao: told('O dia da transferência', 'The day of the transfer'),
  matricula: told('A matrícula do trabalhador no empregador', "The worker's number at the employer"),
  nome_trabalhador: told('O nome do trabalhador', "The worker's name"),
  data_desligamento: told('O último dia do vínculo', 'The last day of the bond'),
  motivo_desligamento: told(
    'Por que o vínculo terminou, como o registry diz',
    'Why the bond ended, as the registry says',
  ),
  situacao_emprestimo: told('A situação em que o empréstimo ficou', 'The situation that the loan was left in'),
  codigo: told('O código', 'The code'),
  descricao: told('O que o código quer dizer', 'What the code stands for'),
  novo_empregador: told('O empregador que recontratou', 'The employer who hired again'),
  cnpj: told('O CNPJ: 12 dígitos ou letras e 2 dígitos', 'The CNPJ: 12 digits or letters and 2 digits'),
  nome: told('O nome do empregador', "The employer's name"),
  data_admissao: told('O primeiro dia do novo vínculo', 'The first day of the new bond'),
  saldo_pendente: told('As parcelas que faltam, somadas', 'The installments that are left, added up'),
  averbavel: told(
    'Se a margem comporta a parcela: se vale pedir uma nova averbação',
    'Whether the margin holds the installment: whether to ask for a new registration',
  ),
  repasse_id: told('O repasse', 'The settlement'),
  competencia: told('O mês do repasse', 'The month of the settlement'),
  total_parcelas: told('Quantas parcelas o repasse tem', 'How many installments the settlement has'),
  numero_ccbs: told('De quantos empréstimos elas são', 'Of how many loans they are'),
  valor_total: told('A soma das parcelas', 'The sum of the installments'),
  fechado_em: told('Quando o mês foi fechado', 'When the month was closed'),
  webhook_id: told('O webhook que falha', 'The webhook that fails'),
  parceiro_id: told('O dono dele', 'Its owner'),
  host: told('O host da URL dele; o resto pode conter um token', 'The host of its URL; the rest may hold a token'),
  primeira_falha_em: told(
    'A primeira falha desde a última resposta boa',
    'The first failure since the last good answer',
  ),
  falhando_desde: told('Quando o serviço o pôs em falhando', 'When the service made it falhando'),
  falhas: told('Tentativas que falharam desde então', 'Attempts that failed since then'),
  ultimo_resultado: told('O resultado da última tentativa', 'The outcome of the last attempt'),
  ultimo_status_http: told('O status HTTP dela; null sem resposta', 'Its HTTP status; null without an answer'),
  desde: told(
    'Quando começou a primeira tentativa da primeira delas',
    'When the first attempt of the first of them began',
  ),
  entregas: told(
    'Quantas entregas; 1001 quer dizer mais de 1000',
    'How many deliveries; 1001 stands for more than 1000',
  ),
  primeira_entrega_id: told(
    'A mais antiga delas: GET /v1/entregas/{id} diz o que houve',
    'The oldest of them: GET /v1/entregas/{id} tells what happened',
  ),
  suspende_em: told(
    'Quando será desativado se continuar assim; null onde nada é desativado',
    'When it will be deactivated if it goes on; null where nothing is',
  ),
  suspenso_em: told('Quando foi desativado', 'When it was deactivated'),
  o_que_fazer: told('O próximo passo, em palavras para uma pessoa', 'What to do next, in words for a person'),
} as const;
