import { daysFromNow, type Issued } from "#test/servers/pki.ts";
import { GREETING, startSmtpServer, type SmtpScript } from "#test/servers/smtp.ts";
import type { Authority } from "#test/lab/services/authority.ts";

/** A mail server of the lab and its addresses. */
export interface MailPlace {
  /** A service of the topology, e.g. smtp-good. */
  readonly name: string;
  readonly addresses: readonly string[];
}

/** How long the busy server makes its clients wait, in milliseconds. */
export const BUSY_AFTER_MS = 3_000;
/** Its greeting after that time. */
export const BUSY_GREETING = "421 smtp-busy.lab.test Too many connections, try again later";
/** Maximum message size of the good server, in bytes. */
export const SIZE_LIMIT = 35_882_577;

/** Starts the mail servers on port 25; the good one also on 587 and, with TLS from the start, on 465. */
export async function startMailServers(
  authority: Authority,
  good: Issued,
  places: readonly MailPlace[],
): Promise<void> {
  await Promise.all(
    places.map(async ({ name, addresses }) => {
      const script = await scriptOf(authority, good, name);
      if (script === null) return;
      const ports = name === "smtp-good" ? [25, 587, 465] : [25];
      const start = (host: string, port: number) => startSmtpServer({ ...script, host, port, implicit: port === 465 });
      await Promise.all(addresses.flatMap((host) => ports.map((port) => start(host, port))));
    }),
  );
}

/** Returns the script of a service; null if it must not listen. */
async function scriptOf(authority: Authority, good: Issued, service: string): Promise<SmtpScript | null> {
  const name = `${service}.lab.test`;
  const greeting = GREETING.replace("mail.example.test", name);
  const ehlo = (...extensions: readonly string[]): string =>
    [`${name} at your service`, ...extensions]
      .map((line, index, all) => `250${index === all.length - 1 ? " " : "-"}${line}\r\n`)
      .join("");
  const full = ehlo("PIPELINING", `SIZE ${SIZE_LIMIT}`, "STARTTLS", "8BITMIME", "SMTPUTF8");
  switch (service) {
    case "smtp-good":
      return { greeting, ehlo: full, chain: [good, authority.intermediate] };
    case "smtp-plain":
      return { greeting, ehlo: ehlo("PIPELINING", "AUTH PLAIN LOGIN", "8BITMIME") };
    case "smtp-expired": {
      const leaf = await authority.issue({ dns: [name], notBefore: daysFromNow(-100), notAfter: daysFromNow(-10) });
      return { greeting, ehlo: full, chain: [leaf, authority.intermediate] };
    }
    case "smtp-busy":
      return { greeting: { text: `${BUSY_GREETING}\r\n`, afterMs: BUSY_AFTER_MS, ending: "close" } };
    case "smtp-helo":
      return {
        greeting: `220 ${name} ready\r\n`,
        ehlo: "500 Command unrecognized\r\n",
        helo: `250 ${name} Hello\r\n`,
      };
    // Behind a packet filter, so that its server cannot be reached.
    case "smtp-filtered":
      return { greeting };
    default:
      return null;
  }
}
