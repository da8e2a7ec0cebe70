import type { Letter } from "#control-plane/notify/mail/content/letter.ts";

/** Writes the mail with the link by which a user sets a new password. */
export function writeReset(token: string, baseUrl: string): Letter {
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
export function writeSignUp(path: string, baseUrl: string): Letter {
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
export function writeKnownUser(baseUrl: string): Letter {
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
export function writeInvite(token: string, baseUrl: string): Letter {
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
