import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** Maximum length of a monitor's name, characters. */
const MOST_NAME = 120;

/** Writes the mail by which a user tests whether the mails about a monitor arrive. `body` is that of the event. */
export function writeTestMail(body: string, baseUrl: string): Letter {
  const { data } = JSON.parse(body) as { readonly data: { readonly monitor: { readonly name: string } } };
  const name = toPlainLine(data.monitor.name, MOST_NAME);
  return {
    subject: `Test: ${name}`,
    headline: `This is a test: nothing has happened to ${name}.`,
    paragraphs: ["A user of its account has asked for this mail. Alerts about this monitor are sent to this address."],
    facts: [],
    list: null,
    links: [],
    footer: `This address gets the notices of this monitor from Vantage at ${baseUrl}.`,
  };
}
