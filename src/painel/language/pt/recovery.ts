/** What a partner does about failures, in Portuguese: recover deliveries, have people told. */
export const recovery = {
  alerts: {
    title: 'Avisos a pessoas',
    intro:
      'Quem é avisado quando um webhook passa a falhar, é suspenso ou volta, e três horas antes de um secret anterior deixar de assinar.',
    email: 'E-mail',
    noMail: 'O operador não configurou um servidor de e-mail.',
    slack: 'URL de chat, como as do Slack',
    slackHint: 'Recebe {"text": …} por POST. O aviso diz o webhook e o que fazer, e nada de um trabalhador.',
    slackNow: (origin: string) => `Agora: ${origin}/… A URL não é mostrada de novo; em branco, fica como está.`,
    noChat: 'Não avisar mais ali',
    newest: 'Os mais novos',
    kind: 'Aviso',
    channel: 'Canal',
    done: { salvo: 'Salvo.', teste: 'O teste sai em alguns segundos; recarregue a página.' } as Record<string, string>,
  },
  recovery: {
    title: 'Recuperar entregas',
    open: 'Recuperar',
    intro: 'Envia de novo o que falhou desde um instante: primeiro conta, depois você confirma.',
    count: 'Contar',
    found: (count: string, inFlight: number) =>
      `${count} ${count === '1' ? 'entrega serve' : 'entregas servem'} a este pedido${inFlight === 0 ? '' : `; outras ${inFlight} estão em andamento e ficam como estão`}.`,
    what: 'Cada uma vai com o mesmo id e o mesmo corpo, e o seu calendário recomeça. O ritmo é o do webhook.',
    send: 'Enviar de novo',
    inactive: 'O webhook está inativo: reative-o antes de recuperar.',
    progress: (sent: number, total: number) => `${sent} de ${total} enviadas de novo…`,
    done: (count: number) => `${count} ${count === 1 ? 'entrega está' : 'entregas estão'} a caminho de novo.`,
  },
};
