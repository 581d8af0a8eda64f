/** The sandbox in Portuguese. */
import type { LoanAct, OtherAct } from '../../sandbox/acts.ts';
import type { Behaviour } from '../../sandbox/inbox.ts';

export const sandbox = {
  token: 'O token desta sessão, para curl e listen',
  tokenHint: 'Vale até o fim da sessão, só neste sandbox.',
  walk: 'Percorrer um empréstimo inteiro',
  walkHint:
    'Emite um empréstimo e faz, passo a passo, o que ele pede até o desembolso. Abra a caixa abaixo para ver as entregas chegarem.',
  onLoan: 'O que acontece ao empréstimo',
  others: 'O que acontece em volta',
  noLoan: 'Ainda não há empréstimo.',
  month: 'Competência',
  seconds: 'Segundos',
  acts: {
    emissao_emitida: 'Emissão termina',
    emissao_falhou: 'Emissão falha',
    assinatura: 'Assinar',
    averbar: 'Pedir a averbação',
    averbacao_concluida: 'Registry vai aceitar',
    averbacao_falhou: 'Registry vai recusar',
    desembolso_liquidado: 'Liquidar o desembolso',
    desembolso_falhou: 'Falhar o desembolso',
    desligamento: 'Trabalhador desligado',
    vinculo_novo: 'Trabalhador recontratado',
    emprestimo: 'Emitir um empréstimo',
    autorizacao: 'Trabalhador autoriza',
    margem_boa: 'Margem: responder bem',
    margem_falha: 'Margem: falhar',
    margem_consulta: 'Consultar a margem',
    sincronizacao: 'Sincronizar os vínculos',
    repasse: 'Fechar o repasse',
    tempo: 'Adiantar o relógio das entregas',
  } as Record<LoanAct | OtherAct, string>,
  done: {
    caixa: 'Caixa aberta',
    comportamento: 'Comportamento alterado',
    passeio: 'O empréstimo está a caminho',
    passeio_recusado: 'O empréstimo foi recusado',
  } as Record<string, string>,
  inbox: 'Caixa de entrada',
  inboxHint:
    'Um receptor deste próprio serviço: mostra cada entrega ao chegar, com a assinatura conferida. Guarda as 50 mais novas, na memória.',
  openInbox: 'Abrir a caixa (cria um webhook para ela)',
  behaviour: 'O receptor',
  behaviours: {
    aceita: 'aceita (204)',
    falha: 'falha (500)',
    demora: 'responde em 5 s',
    trava: 'não responde em 30 s',
  } as Record<Behaviour, string>,
  nothingYet: 'Nada chegou ainda.',
  signed: 'assinatura confere',
  unsigned: 'assinatura não confere',
};
