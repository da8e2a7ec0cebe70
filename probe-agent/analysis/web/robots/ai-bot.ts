/** A crawler of an AI service. */
export interface AiBot {
  /** Product token for robots.txt. */
  readonly name: string;
  readonly operator: string;
  readonly purpose: "train" | "search" | "assistant" | "agent";
}
