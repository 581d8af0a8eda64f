/** The sandbox. */
import type { Bilingual } from '../../contract/language.ts';
import { SLOTS } from '../../contract/schedule.ts';
import { LATE_AFTER } from '../../contract/statuses.ts';
import type { AccountAct, LoanAct, OtherAct } from '../sandbox/acts.ts';
import type { Behaviour } from '../sandbox/inbox.ts';
import type { Words } from './words.ts';

export const sandbox = {
  token: { pt: 'O token desta sessão, para curl e listen', en: 'The token of this session, for curl and listen' },
  tokenHint: {
    pt: 'Vale até o fim da sessão, só neste sandbox.',
    en: 'Good until the session ends, in this sandbox alone.',
  },
  walk: { pt: 'Percorrer um empréstimo inteiro', en: 'Walk a whole loan' },
  walkHint: {
    pt: 'Emite um empréstimo e faz, passo a passo, o que ele pede até o desembolso. Abra a caixa abaixo para ver as entregas chegarem.',
    en: 'Issues a loan and does, step by step, what it asks for up to the disbursement. Open the inbox below to see the deliveries arrive.',
  },
  onLoan: { pt: 'O que acontece ao empréstimo', en: 'What happens to the loan' },
  account: { pt: 'A sua conta, para os empréstimos que vierem', en: 'Your account, for the loans to come' },
  others: { pt: 'O que acontece em volta', en: 'What happens around it' },
  noLoan: { pt: 'Ainda não há empréstimo.', en: 'There is no loan yet.' },
  month: { pt: 'Competência', en: 'Month' },
  seconds: { pt: 'Segundos', en: 'Seconds' },
  clockHint: {
    pt: `O relógio adianta o que ainda vem: as tentativas, que vencem agora e nunca antes, o minuto entre duas tentativas a uma URL que nunca respondeu 2xx, e desde quando um webhook falha. Com seis horas depois de cada falha, a ${LATE_AFTER}ª dá atraso, a ${SLOTS}ª erro, e falhas bastantes dão falhando. O que já aconteceu fica com a sua hora: o log a selou, e quem tem um checkpoint veria que mudou. Por isso nada vence antes da criação da entrega, e as tentativas ficam a segundos umas das outras.`,
    en: `The clock moves what is still to come: attempts, which become due now and never before, the minute between two attempts at a URL that has never answered 2xx, and since when a webhook fails. With six hours behind each failure, number ${LATE_AFTER} makes atraso, number ${SLOTS} erro, and enough of them falhando. What has happened keeps its time: the log has sealed it, and whoever holds a checkpoint would see that it changed. So nothing becomes due before its delivery was made, and attempts stand seconds apart.`,
  },
  acts: {
    emissao_emitida: { pt: 'Emissão termina', en: 'Issuance ends' },
    emissao_falhou: { pt: 'Emissão falha', en: 'Issuance fails' },
    assinatura: { pt: 'Assinar', en: 'Sign' },
    documentos_pacote: { pt: 'Enviar o pacote assinado', en: 'Send the signed package' },
    documentos_ccb: { pt: 'Enviar só a CCB assinada', en: 'Send the signed CCB alone' },
    documentos_dataprev: { pt: 'Entregar os documentos que faltam', en: 'Hand in the missing documents' },
    assinatura_internal: { pt: 'Assinatura nossa', en: 'We have it signed' },
    assinatura_externa: { pt: 'Assinatura externa', en: 'Signed outside' },
    documentos_agrupada: { pt: 'Documentos juntos', en: 'Documents together' },
    documentos_diferida: { pt: 'Documentos depois', en: 'Documents later' },
    emissao_sincrona: { pt: 'Emissão na hora', en: 'Issued at once' },
    emissao_assincrona: { pt: 'Emissão depois', en: 'Issued later' },
    averbar: { pt: 'Pedir a averbação', en: 'Ask for the registration' },
    averbacao_concluida: { pt: 'Registry vai aceitar', en: 'Registry will accept' },
    averbacao_falhou: { pt: 'Registry vai recusar', en: 'Registry will refuse' },
    desembolso_liquidado: { pt: 'Liquidar o desembolso', en: 'Settle the transfer' },
    desembolso_falhou: { pt: 'Falhar o desembolso', en: 'Fail the transfer' },
    desligamento: { pt: 'Trabalhador desligado', en: 'Worker leaves' },
    vinculo_novo: { pt: 'Trabalhador recontratado', en: 'Worker is hired again' },
    emprestimo: { pt: 'Emitir um empréstimo', en: 'Issue a loan' },
    autorizacao: { pt: 'Trabalhador autoriza', en: 'Worker authorizes' },
    margem_boa: { pt: 'Margem: responder bem', en: 'Margin: answer well' },
    margem_falha: { pt: 'Margem: falhar', en: 'Margin: fail' },
    margem_consulta: { pt: 'Consultar a margem', en: 'Query the margin' },
    sincronizacao: { pt: 'Sincronizar os vínculos', en: 'Sync the bonds' },
    repasse: { pt: 'Fechar o repasse', en: 'Close the settlement' },
    tempo: { pt: 'Adiantar o relógio das entregas', en: "Move the deliveries' clock" },
  } satisfies Record<LoanAct | AccountAct | OtherAct, Bilingual>,
  done: {
    caixa: { pt: 'Caixa aberta', en: 'Inbox open' },
    comportamento: { pt: 'Comportamento alterado', en: 'Behaviour changed' },
    passeio: { pt: 'O empréstimo está a caminho', en: 'The loan is on its way' },
    passeio_recusado: { pt: 'O empréstimo foi recusado', en: 'The loan was refused' },
  } as Record<string, Bilingual>,
  inbox: { pt: 'Caixa de entrada', en: 'Inbox' },
  inboxHint: {
    pt: 'Um receptor deste próprio serviço: mostra cada entrega ao chegar, com a assinatura conferida. Guarda as 50 mais novas, na memória.',
    en: 'A receiver of this very service: it shows each delivery as it arrives, its signature verified. It keeps the 50 newest, in memory.',
  },
  openInbox: { pt: 'Abrir a caixa (cria um webhook para ela)', en: 'Open the inbox (creates a webhook for it)' },
  behaviour: { pt: 'O receptor', en: 'The receiver' },
  behaviours: {
    aceita: { pt: 'aceita (204)', en: 'accepts (204)' },
    falha: { pt: 'falha (500)', en: 'fails (500)' },
    indisponivel: { pt: 'está fora do ar (503)', en: 'is unavailable (503)' },
    redireciona: { pt: 'redireciona (302)', en: 'redirects (302)' },
    html: { pt: 'responde uma página (200, HTML)', en: 'answers a page (200, HTML)' },
    demora: { pt: 'responde em 5 s', en: 'answers in 5 s' },
    trava: { pt: 'não responde em 30 s', en: 'does not answer in 30 s' },
    derruba: { pt: 'derruba a conexão', en: 'resets the connection' },
    tls: { pt: 'erra o TLS (a URL passa a https)', en: 'fails in TLS (its URL becomes https)' },
  } satisfies Record<Behaviour, Bilingual>,
  nothingYet: { pt: 'Nada chegou ainda.', en: 'Nothing has arrived yet.' },
  signed: { pt: 'assinatura confere', en: 'signature fits' },
  unsigned: { pt: 'assinatura não confere', en: 'signature does not fit' },
} satisfies Words;
