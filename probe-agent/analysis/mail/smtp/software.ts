/** Words in greetings that identify the mail server software. */
const SOFTWARE: readonly (readonly [RegExp, string])[] = [
  [/\bPostfix\b/i, "Postfix"],
  [/\bExim\b/i, "Exim"],
  [/\bSendmail\b/i, "Sendmail"],
  [/\bMicrosoft ESMTP MAIL Service\b/i, "Microsoft Exchange"],
  [/\bgsmtp\b/i, "Google"],
  [/\bOpenSMTPD\b/i, "OpenSMTPD"],
  [/\bHaraka\b/i, "Haraka"],
  [/\bStalwart\b/i, "Stalwart"],
  [/\bMailEnable\b/i, "MailEnable"],
  [/\bMDaemon\b/i, "MDaemon"],
  [/\bZimbra\b/i, "Zimbra"],
  [/\bKerio\b/i, "Kerio Connect"],
  [/\bhMailServer\b/i, "hMailServer"],
  [/\bDomino\b/i, "HCL Domino"],
  [/\bPowerMTA\b/i, "PowerMTA"],
  [/\bqmail\b/i, "qmail"],
  [/\bJAMES\b/, "Apache James"],
];

/** Returns the software that a greeting names; null if it names none. */
export function serverSoftware(greeting: string): string | null {
  return SOFTWARE.find(([pattern]) => pattern.test(greeting))?.[1] ?? null;
}
