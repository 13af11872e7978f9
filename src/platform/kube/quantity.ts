const factors: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/**
 * The number that a quantity of Kubernetes stands for, such as `250m`, `2Gi` or `1e3`; undefined for a text that is
 * none. Near enough to compare two of them: the API server rounds up what is finer than a thousandth.
 */
export const quantityOf = (text: string): number | undefined => {
  const [, number = "", unit = ""] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([numkKMGTPE]?i?)$/.exec(text) ?? [];
  const factor = factors[unit];
  return number === "" || factor === undefined ? undefined : Number(number) * factor;
};
