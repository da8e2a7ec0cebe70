import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { findLimits, recordMails, type MailLimit } from "#control-plane/notify/mail/ledger.ts";
import { MAIL_SCHEDULE, MAIL_TIMEOUT_MS, type Mailer } from "#control-plane/notify/mail/mailer.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { deleteLink } from "#control-plane/people/users/links/store.ts";
import { createLink, type CreatedLink } from "#control-plane/people/users/links/links.ts";
import {
  claimMails,
  deleteOldMails,
  endMail,
  endResetsTo,
  insertMail,
  postponeMail,
  type MailPurpose,
  type RequestedMail,
} from "#control-plane/people/users/mails-store.ts";
import { findUserByEmail, listMemberships } from "#control-plane/people/users/store.ts";

/** Mails to people about their access. */
export interface UserMails {
  /**
   * Asks for a mail to an address. Returns the limit that does not allow it; null if it is on its way. Whether the address
   * is known is not looked up: known and unknown ones take the same time.
   */
  request(tx: Transaction, mail: WantedMail): Promise<MailLimit | null>;
  /** Forgets mails for a new password that wait to be sent to users who are erased. */
  forget(sql: Queryable, emails: readonly string[]): Promise<void>;
  /** Stops sending; what is being sent is aborted, and sent by another replica, or after the next start. */
  close(): void;
}

/** A mail to ask for. */
type WantedMail = { readonly email: string } & (
  | {
      readonly purpose: "reset" | "sign_up";
      /** Address of the client that asks for it. */
      readonly caller: string;
    }
  | {
      readonly purpose: "invite";
      readonly link: Pick<CreatedLink, "id" | "token">;
      /** The account that is joined; null: a new one. */
      readonly accountId: number | null;
    }
);

/** Dependencies of the mails. */
interface UserMailsDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  readonly encryption: Encryption;
  /** null if there is no mail server, and nothing is sent. */
  readonly mailer: Mailer | null;
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PURPOSE = "requested_mails.sealed";
/** Age at which a mail is given up, milliseconds: who asked has asked again. */
const LASTS_MS: Readonly<Record<MailPurpose, number>> = { reset: HOUR_MS, sign_up: DAY_MS, invite: DAY_MS };
/** Life of the link of a sign-up, milliseconds. */
const SIGN_UP_MS = 7 * DAY_MS;
/** Age at which a row is deleted, milliseconds: later than its mail is given up. */
const KEPT_MS = 2 * DAY_MS;
const POLL_MS = 1_000;
const AT_ONCE = 4;
const SWEEP_MS = 600_000;
const DELETED_AT_ONCE = 1_000;
/** An attempt that was not settled by then is lost, milliseconds. */
const LEASE_MS = 2 * MAIL_TIMEOUT_MS;

/** Opens the mails of one replica and starts sending. */
export function createUserMails(deps: UserMailsDeps): UserMails {
  const { sql, clock, log, timers, encryption, mailer } = deps;
  const stopping = new AbortController();
  const recipientOf = (email: string): string =>
    Buffer.from(encryption.digest(addressKey(email), "requested_mails.recipient")).toString("hex");
  const upkeep = startUpkeep({
    everyMs: SWEEP_MS,
    round: () => {
      const before = new Date(clock.now().getTime() - KEPT_MS);
      return deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldMails(sql, before, limit));
    },
    name: "mails to users: housekeeping",
    log,
    timers,
  });
  const sending =
    mailer === null
      ? null
      : startUpkeep({
          everyMs: POLL_MS,
          async round() {
            for (;;) {
              if (stopping.signal.aborted) return;
              const now = clock.now();
              const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
              const claimed = await claimMails(sql, { now, leaseEndsAt, limit: AT_ONCE });
              await Promise.all(claimed.map((mail) => attempt({ ...deps, mailer }, mail, stopping.signal)));
              if (claimed.length < AT_ONCE) return;
            }
          },
          name: "mails to users",
          log,
          timers,
        });
  return {
    async request(tx, wanted) {
      const { purpose, email } = wanted;
      const now = clock.now();
      const by =
        wanted.purpose === "invite"
          ? { accountId: wanted.accountId, caller: null }
          : { accountId: null, caller: wanted.caller };
      const counted = [{ purpose, email, page: null, ...by }];
      // Also counted where nothing will be sent: an address that is unknown today can be known tomorrow.
      const [limit = null] = await findLimits(tx, encryption, counted, now);
      if (limit !== null) return limit;
      await recordMails(tx, encryption, counted, now);
      const link = wanted.purpose === "invite" ? wanted.link : null;
      const sealed = JSON.stringify({ email, token: link?.token ?? null } satisfies Sealed);
      const mail = {
        purpose,
        recipient: recipientOf(email),
        sealed: encryption.seal(Buffer.from(sealed), PURPOSE),
        linkId: link?.id ?? null,
      };
      await insertMail(tx, mail, now);
      return null;
    },
    forget: (on, emails) => endResetsTo(on, emails.map(recipientOf)),
    close() {
      upkeep.stop();
      sending?.stop();
      stopping.abort();
    },
  };
}

/** What is encrypted in a row. The token is that of an invite; other links are made for each attempt. */
interface Sealed {
  readonly email: string;
  readonly token: string | null;
}

/**
 * Makes one attempt. The link of a new password or account is created for it, and exists in the mail alone; one that was
 * not accepted is deleted with its attempt.
 */
async function attempt(
  deps: UserMailsDeps & { readonly mailer: Mailer },
  mail: RequestedMail,
  stopping: AbortSignal,
): Promise<void> {
  const { sql, clock, encryption, mailer } = deps;
  const { id, purpose, attempt: number } = mail;
  const now = clock.now();
  const opened = encryption.open(mail.sealed, PURPOSE);
  const isOver = now.getTime() - mail.requestedAt.getTime() > LASTS_MS[purpose];
  if (opened === null || isOver) return endMail(sql, id);
  const { email, token } = JSON.parse(Buffer.from(opened).toString()) as Sealed;
  const prepared = await transact(sql, (tx) => write(deps, tx, purpose, email, token));
  if (prepared === null) return endMail(sql, id);
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(MAIL_TIMEOUT_MS)]);
  const outcome = await mailer.sendAlone(
    { name: `user-mail.${id}.${number}`, letter: prepared.letter, to: prepared.to, isFirst: number === 1 },
    signal,
  );
  if (outcome.kind === "delivered") return endMail(sql, id);
  if (prepared.linkId !== null) await deleteLink(sql, prepared.linkId);
  const delay = MAIL_SCHEDULE[number];
  if (outcome.kind === "refused" || delay === undefined) return endMail(sql, id);
  await postponeMail(sql, id, new Date(clock.now().getTime() + delay));
}

/**
 * Writes the mail, with a new link where it needs one. null: no mail is sent to this address, or no more. A user is mailed
 * under the address as it is known: in another spelling it could be somebody else's, to a server that distinguishes them.
 */
async function write(
  deps: UserMailsDeps,
  tx: Queryable,
  purpose: MailPurpose,
  email: string,
  token: string | null,
): Promise<{ readonly letter: Letter; readonly linkId: number | null; readonly to: string } | null> {
  const { baseUrl } = deps;
  if (purpose === "invite")
    return token === null ? null : { letter: writeInvite(token, baseUrl), linkId: null, to: email };
  const user = await findUserByEmail(tx, email);
  if (purpose === "sign_up") {
    if (user?.isProved === true) return { letter: writeKnownUser(baseUrl), linkId: null, to: user.email };
    // Somebody else may have made this user. The owner of the address says whose its accounts are, and chooses a password.
    const link =
      user === null
        ? await createLink(deps, tx, "invite", { email, role: "owner" })
        : await createLink(deps, tx, "reset", { userId: user.id, email: user.email }, SIGN_UP_MS);
    const path = `/${user === null ? "invite" : "reset"}/${link.token}`;
    return { letter: writeSignUp(path, baseUrl), linkId: link.id, to: user?.email ?? email };
  }
  if (user === null || (await listMemberships(tx, user.id)).length === 0) return null;
  const link = await createLink(deps, tx, "reset", { userId: user.id });
  return { letter: writeReset(link.token, baseUrl), linkId: link.id, to: user.email };
}

/** Writes the mail with the link by which a user sets a new password. */
function writeReset(token: string, baseUrl: string): Letter {
  return letter(baseUrl, {
    subject: "[Vantage] Set a new password",
    headline: "Set a new password",
    paragraphs: [
      `Somebody asked for a new password of this address at ${baseUrl}.`,
      "Open the link and choose one. It works once, for an hour. All sessions end then.",
      "If it was not you, ignore this mail: your password stays as it is.",
    ],
    link: ["New password", `${baseUrl}/reset/${token}`],
  });
}

/** Writes the mail with the link, a path, by which the owner of an address opens an account. */
function writeSignUp(path: string, baseUrl: string): Letter {
  return letter(baseUrl, {
    subject: "[Vantage] Open your account",
    headline: "Open your account",
    paragraphs: [
      `Somebody wants to open an account with this address at ${baseUrl}.`,
      "Open the link and choose a password. It works once, for 7 days.",
      "If it was not you, ignore this mail: there is no account without it.",
    ],
    link: ["Open the account", `${baseUrl}${path}`],
  });
}

/** Writes the mail to a user who asked for an account and has one. */
function writeKnownUser(baseUrl: string): Letter {
  return letter(baseUrl, {
    subject: "[Vantage] You can sign in",
    headline: "You can sign in",
    paragraphs: [
      `Somebody wants to open an account with this address at ${baseUrl}. You are a user there already.`,
      "Sign in with your password, or ask for a new one there. If it was not you, ignore this mail.",
    ],
    link: ["Sign in", `${baseUrl}/sign-in`],
  });
}

/** Writes the mail with an invite. It contains no text of the account. */
function writeInvite(token: string, baseUrl: string): Letter {
  return letter(baseUrl, {
    subject: "[Vantage] You are invited",
    headline: "You are invited",
    paragraphs: [
      `This address is invited to an account of Vantage at ${baseUrl}.`,
      "Open the link to see which one, and to join. It works once, for 7 days.",
      "If you do not know about this, ignore this mail.",
    ],
    link: ["Join", `${baseUrl}/invite/${token}`],
  });
}

function letter(
  baseUrl: string,
  {
    link,
    ...words
  }: Pick<Letter, "subject" | "headline" | "paragraphs"> & { readonly link: readonly [string, string] },
): Letter {
  return { ...words, facts: [], list: null, links: [link], footer: `Sent by Vantage at ${baseUrl}.` };
}
