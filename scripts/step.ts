/** One thing that `npm run check` looks at. Rejects with what is wrong; with a `MissingProgram` when it can't look here. */
export type Step = { name: string; run(): Promise<unknown> };
