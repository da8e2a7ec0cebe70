import type { Letter } from "#control-plane/notify/mail/content/letter.ts";

/** Writes the mail that asks the owner of an address to confirm it. It contains no text of the account. */
export function writeConfirmation(token: string, baseUrl: string): Letter {
  return {
    subject: "[Vantage] Confirm this address for alerts",
    headline: "Confirm this address",
    paragraphs: [
      `A user of Vantage at ${baseUrl} wants to send alerts about websites to this address.`,
      "Open the link and press the button to get them. It works once, for 7 days.",
      "If you do not know about this, ignore this mail: nothing more will be sent here.",
    ],
    facts: [],
    list: null,
    links: [["Confirm", `${baseUrl}/mail/confirm/${token}`]],
    footer: `Sent by Vantage at ${baseUrl}.`,
  };
}
