// What is wrong with a lesson is collected, so that a teacher sees all of it at once, each with its file and line.

export class Problems {
  #errors = [];

  error(place, message) {
    this.#errors.push(`${place}: ${message}`);
  }

  /** Fail if there was one. */
  settle() {
    if (this.#errors.length === 0) return;
    const found = [...new Set(this.#errors)];
    throw new BuildError(`${found.join("\n")}\n${found.length === 1 ? "One thing" : `${found.length} things`} to put right.`);
  }
}

/** Something the author of a lesson can put right: shown without a stack trace. */
export class BuildError extends Error {}
