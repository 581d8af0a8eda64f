/** What a partner does about failures, in English. */
import type { recovery as pt } from '../pt/recovery.ts';

export const recovery: typeof pt = {
  alerts: {
    title: 'Alerts to people',
    intro:
      'Who is told when a webhook begins to fail, is suspended or is well again, and three hours before a secret of before stops signing.',
    email: 'E-mail',
    noMail: 'The operator has set no mail server.',
    slack: 'URL of a chat, like those of Slack',
    slackHint: 'It takes {"text": …} by POST. The alert tells the webhook and what to do, and nothing of a worker.',
    slackNow: (origin) => `Now: ${origin}/… The URL is not shown again; left empty, it stays as it is.`,
    noChat: 'Tell nobody there any more',
    newest: 'The newest',
    kind: 'Alert',
    channel: 'Channel',
    done: { salvo: 'Saved.', teste: 'The test leaves within seconds; load the page again.' },
  },
  recovery: {
    title: 'Recover deliveries',
    open: 'Recover',
    intro: 'Sends again what failed since an instant: it counts first, then you confirm.',
    count: 'Count',
    found: (count, inFlight) =>
      `${count} ${count === '1' ? 'delivery fits' : 'deliveries fit'}${inFlight === 0 ? '' : `; ${inFlight} more are in flight and left alone`}.`,
    what: "Each goes with the same id and body, and its schedule begins anew. The pace is the webhook's.",
    send: 'Send again',
    inactive: 'The webhook is inactive: reactivate it before you recover.',
    progress: (sent, total) => `${sent} of ${total} sent again…`,
    done: (count) => `${count} ${count === 1 ? 'delivery is on its' : 'deliveries are on their'} way again.`,
  },
};
