/** What an agent shows a control plane, and how it knows one: PEM texts. */
export interface Credential {
  readonly key: string;
  readonly certificate: string;
  /** The control plane's own authority, the only root that counts on this wire. */
  readonly ca: string;
}
