import { toPlainLine } from "#shared/text/plain-line.ts";
import { fail, ok, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import type { SmtpFault } from "#shared/process/smtp-result.ts";
import { clientName, openSession, type SmtpSession } from "#shared/process/smtp-session.ts";
import { formatAddress, linkedUrl } from "#shared/settings/address.ts";
import type { MailServer } from "#shared/settings/mail-server.ts";

/** Time for the whole dialogue with the mail server, milliseconds. */
const DEADLINE_MS = 15_000;
/** Maximum length of the server's words, characters. */
const MOST_WORDS = 200;

/** Connects to the mail server, introduces itself, signs in if the settings name a user, and leaves without a mail. */
export async function checkMail(
  { settings }: Pick<Patient, "settings">,
  deadlineMs: number = DEADLINE_MS,
): Promise<Finding> {
  const { smtpUrl: server, baseUrl, httpAddr, tlsCert } = settings;
  if (server === null) return ok("mail", "no mail server: nobody is mailed (VANTAGE_SMTP_URL, VANTAGE_MAIL_FROM)");
  const name = clientName(baseUrl ?? linkedUrl(httpAddr, tlsCert !== null));
  const opened = await openSession(server, name, AbortSignal.timeout(deadlineMs));
  if (!opened.ok) return explain(server, opened.fault);
  await leave(opened.session);
  const { credentials } = server;
  const signedIn =
    credentials === null ? "answers EHLO" : `accepts the user ${toPlainLine(credentials.user, MOST_WORDS)}`;
  return ok("mail", `${placeOf(server)} ${signedIn}`);
}

/** Ends a session with QUIT. The session ends soon, also if the server does not. */
function leave(session: SmtpSession): Promise<void> {
  return new Promise((resolve) => {
    session.onEnd(resolve);
    session.close();
  });
}

/** Says what failed, in the server's words where it has sent any, and what to do. */
function explain(server: MailServer, { stage, replyCode, text }: SmtpFault): Finding {
  const place = placeOf(server);
  const words = toPlainLine(withoutPassword(server, text), MOST_WORDS);
  switch (stage) {
    case "connect":
      return fail(
        "mail",
        `cannot connect to ${place} (${words})`,
        "check host and port in VANTAGE_SMTP_URL, and firewalls: many providers block port 25",
      );
    case "tls":
      return fail(
        "mail",
        `TLS with ${place} failed (${words})`,
        "check the server's name and certificate (a CA of your own: NODE_EXTRA_CA_CERTS), and in VANTAGE_SMTP_URL " +
          "smtps:// (TLS from the start) or ?starttls=",
      );
    case "auth":
      return replyCode === null
        ? fail(
            "mail",
            `${place} offers no way to sign in (${words})`,
            "use the port for submission (587, or 465 with smtps://), or remove user and password from VANTAGE_SMTP_URL",
          )
        : fail(
            "mail",
            `${place} refused the user ${toPlainLine(server.credentials?.user ?? "", MOST_WORDS)}: ${words}`,
            "correct user and password in VANTAGE_SMTP_URL; some providers need a password made for applications",
          );
    default:
      return fail(
        "mail",
        `${place} did not accept the session (${words})`,
        "check that it is a mail server which takes mail from this host; port 465 needs smtps://",
      );
  }
}

function placeOf({ host, port }: MailServer): string {
  return formatAddress({ host, port });
}

/** Removes the password, in the forms in which it is sent, because a reply can repeat it. */
function withoutPassword({ credentials }: MailServer, text: string): string {
  if (credentials === null) return text;
  const { user, password } = credentials;
  const sent = [password, encode(password), encode(`\0${user}\0${password}`)];
  return sent.reduce((rest, secret) => rest.replaceAll(secret, "****"), text);
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
