/** A crawler of an AI service. */
export interface AiBot {
  /** Product token, as robots.txt names it. */
  readonly name: string;
  readonly operator: string;
  readonly purpose: "train" | "search" | "assistant" | "agent";
}
