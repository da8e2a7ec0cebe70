/** Error of an evaluation that takes too many steps. Never leaves this folder. */
export class TooMuchEffort extends Error {
  override readonly name = "TooMuchEffort";
}

/** Limit on the steps of one evaluation: a short path can select more nodes than the document has. */
export class Effort {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Takes steps from the limit. Throws TooMuchEffort if none are left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchEffort();
  }
}
