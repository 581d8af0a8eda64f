/** The sandbox in English. */
import type { sandbox as pt } from '../pt/sandbox.ts';

export const sandbox: typeof pt = {
  title: 'Sandbox',
  walk: 'Walk a whole loan',
  walkHint:
    'Issues a loan and does, step by step, what it asks for up to the disbursement. Open the inbox below to see the deliveries arrive.',
  onLoan: 'What happens to the loan',
  others: 'What happens around it',
  noLoan: 'There is no loan yet.',
  month: 'Month',
  seconds: 'Seconds',
  acts: {
    emissao_emitida: 'Issuance ends',
    emissao_falhou: 'Issuance fails',
    assinatura: 'Sign',
    averbar: 'Ask for the registration',
    averbacao_concluida: 'Registry will accept',
    averbacao_falhou: 'Registry will refuse',
    desembolso_liquidado: 'Settle the transfer',
    desembolso_falhou: 'Fail the transfer',
    desligamento: 'Worker leaves',
    vinculo_novo: 'Worker is hired again',
    emprestimo: 'Issue a loan',
    autorizacao: 'Worker authorizes',
    margem_boa: 'Margin: answer well',
    margem_falha: 'Margin: fail',
    margem_consulta: 'Query the margin',
    sincronizacao: 'Sync the bonds',
    repasse: 'Close the settlement',
    tempo: "Move the deliveries' clock",
  },
  done: {
    caixa: 'Inbox open',
    comportamento: 'Behaviour changed',
    passeio: 'The loan is on its way',
    passeio_recusado: 'The loan was refused',
  },
  inbox: 'Inbox',
  inboxHint:
    'A receiver of this very service: it shows each delivery as it arrives, its signature verified. It keeps the 50 newest, in memory.',
  openInbox: 'Open the inbox (creates a webhook for it)',
  behaviour: 'The receiver',
  behaviours: {
    aceita: 'accepts (204)',
    falha: 'fails (500)',
    demora: 'answers in 5 s',
    trava: 'does not answer in 30 s',
  },
  nothingYet: 'Nothing has arrived yet.',
  signed: 'signature fits',
  unsigned: 'signature does not fit',
};
