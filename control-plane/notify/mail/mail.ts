import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { MailConfig } from "#control-plane/core/config.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Sender } from "#control-plane/notify/deliveries/delivery.ts";
import type { ReceiverSource } from "#control-plane/notify/events/event.ts";
import {
  createRecipients,
  type AccountEmails,
  type Recipients,
} from "#control-plane/notify/mail/recipients/recipients.ts";
import type { ReadPicture } from "#control-plane/notify/mail/attachments.ts";
import { createUnsubscriptions, type Unsubscriptions } from "#control-plane/notify/mail/recipients/unsubscriptions.ts";
import { createMailer, type Mailer } from "#control-plane/notify/mail/mailer.ts";
import {
  createMailSender,
  type EvidenceLines,
  type PageLink,
  type ReadHeartbeatFacts,
} from "#control-plane/notify/mail/sender.ts";
import { createSmtpPool } from "#control-plane/notify/mail/smtp/pool.ts";
import { clientName } from "#shared/process/smtp/session.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** Mail of one replica. */
export interface Mail {
  readonly recipients: Recipients;
  readonly unsubscriptions: Unsubscriptions;
  /** Finds whom events are mailed to: no one if there is no mail server. */
  readonly source: ReceiverSource;
  /** Sends mails; null if there is no mail server. */
  readonly sender: Sender | null;
  /** Sends other mails; null if there is no mail server. */
  readonly mailer: Mailer | null;
  /** Closes the sessions with the mail server. Call it when no mail is being sent any more. */
  close(): void;
}

/** Dependencies of mail. */
interface MailDeps {
  /** null: there is no mail server. */
  readonly config: MailConfig | null;
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly encryption: Encryption;
  /** Returns the accounts' own addresses by account; one without an address is missing. */
  readonly accountEmails: AccountEmails;
  /** Returns the lines about the evidence of an incident; null if there are none. */
  readonly evidenceLines: EvidenceLines;
  /** Returns what is known about a heartbeat as of an instant; null if the monitor is none any more. */
  readonly heartbeatFacts: ReadHeartbeatFacts;
  readonly pageLink: PageLink;
  readonly readPicture: ReadPicture;
}

const UPKEEP_MS = 3_600_000;

/** Opens mail. It connects to the mail server when there is something to send. */
export function openMail(deps: MailDeps): Mail {
  const { config, baseUrl, log } = deps;
  const recipients = createRecipients(deps);
  const unsubscriptions = createUnsubscriptions(deps);
  const pool = config === null ? null : createSmtpPool(config.server, clientName(baseUrl));
  const mailer = config === null || pool === null ? null : createMailer({ ...deps, pool, from: config.from });
  const upkeep = startUpkeep({
    everyMs: UPKEEP_MS,
    round: () => recipients.sweep(),
    name: "mail: housekeeping",
    log,
  });
  return {
    recipients,
    unsubscriptions,
    source: {
      channel: "mail",
      isBundled: true,
      async find(tx, events) {
        if (pool === null) return events.map(() => []);
        const wanted = events.map(({ accountId, mailTo }) => ({
          accountId,
          emails: mailTo === undefined ? [] : mailTo,
        }));
        return recipients.recipientsOf(tx, wanted);
      },
    },
    sender:
      mailer === null ? null : createMailSender({ ...deps, mailer, unsubscribeUrl: (id) => unsubscriptions.urlOf(id) }),
    mailer,
    close() {
      upkeep.stop();
      pool?.close();
    },
  };
}
