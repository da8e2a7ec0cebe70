/** Part of an SMTP session in which it failed. lost: the connection broke or the time was up. */
export type SmtpStage = "connect" | "tls" | "greeting" | "auth" | "sender" | "recipient" | "message" | "lost";

/** Why a mail was not accepted. */
export interface SmtpFault {
  readonly stage: SmtpStage;
  /** Reply code of the server; null if it sent no reply. */
  readonly replyCode: number | null;
  /** Text of the reply or of the error; untrusted, and can hold anything. */
  readonly text: string;
}

/** Result of handing a mail to the server. */
export type SmtpResult =
  | { readonly ok: true; readonly replyCode: number }
  | { readonly ok: false; readonly fault: SmtpFault };

/** A mail as it is sent. */
export interface RawMail {
  readonly from: string;
  readonly to: string;
  /** The message with its header fields. */
  readonly raw: Buffer;
}
