// Keeps what a field tells the page in `events`, as `type id`, with a mark at what a script could have made itself.
window.events = [];
for (const type of ["focus", "beforeinput", "input", "change", "blur", "submit", "keydown"])
  addEventListener(
    type,
    ({ target, isTrusted }) => {
      if (target instanceof Element) window.events.push(`${type} ${target.id}${isTrusted ? "" : " by script"}`);
    },
    { capture: true },
  );
