/** What a mail says about an event that is no change of a monitor's status. Strings are printable and bounded. */
export interface NoticeText {
  /** For subjects and lists: "Certificate expires in 7 days". */
  readonly label: string;
  /** To count several: "certificates expire". */
  readonly counted: string;
  /** One sentence. */
  readonly headline: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
}
