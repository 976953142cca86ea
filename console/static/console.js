"use strict";
// Times in the reader's zone; the server's is shown when the pointer rests on it.
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  if (!Number.isNaN(moment.getTime())) {
    time.title = time.textContent;
    time.textContent = moment.toLocaleString();
  }
}

// "/" goes to the search.
document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !target.matches("input, textarea, select")) {
    event.preventDefault();
    document.getElementById("q")?.focus();
  }
});

// Acts in batches: the next one begins by itself until somebody stops it.
const going = document.querySelector("form[data-continue]");
if (going) {
  const timer = setTimeout(() => going.requestSubmit(), 300);
  document.getElementById("cancel")?.addEventListener("click", () => clearTimeout(timer));
}

// Live figures: text is replaced, nothing else.
const address = document.body.dataset.live;
if (address && document.querySelector("[data-figure], [data-total]")) {
  const age = document.getElementById("age");
  const button = document.getElementById("pause");
  const rows = new Map();
  for (const row of document.querySelectorAll("[data-queue]")) rows.set(row.dataset.queue, row);
  let source = null;
  let counted = null; // when the figures were counted, by this machine's clock
  // What the page has already was counted then: older figures would be a step back.
  const asked = Date.parse(document.querySelector("[data-asked]")?.dataset.asked ?? "");
  // The stream tells of the queues of this page, or of those that are the busiest then.
  const busiest = document.querySelector("[data-busiest]");
  const most = Number(busiest?.dataset.busiest);
  const names = [...rows.keys()].slice(0, 100).map((name) => "queue=" + encodeURIComponent(name));
  const place = busiest ? `${address}?busiest=${most}` : names.length ? `${address}?${names.join("&")}` : address;
  const write = (place, value) => {
    const shown = typeof value === "number" ? value.toLocaleString("en") : value === null ? "–" : String(value);
    if (place.childElementCount === 1) place = place.firstElementChild;
    if (place.childElementCount === 0 && place.textContent !== shown) place.textContent = shown;
  };
  // A queue that became busy gets a row. Rows move and go only while nobody points at them or has them in focus.
  let grown = false; // rows were added, and are not yet in their order
  const arrange = (queues) => {
    const fresh = busiest.querySelector("template").content;
    const none = busiest.querySelector(".empty");
    if (none && queues.length) {
      none.replaceWith(fresh.cloneNode(true));
      busiest.querySelector("tbody").replaceChildren();
    }
    const body = busiest.querySelector("tbody");
    if (!body) return;
    for (const { queue_name: name } of queues) {
      if (rows.has(name)) continue;
      const row = fresh.querySelector("tbody tr").cloneNode(true);
      const link = row.querySelector("a");
      link.href = `${link.getAttribute("href")}?name=${encodeURIComponent(name)}`;
      link.firstElementChild.textContent = name;
      row.dataset.queue = name;
      body.append(row);
      rows.set(name, row);
      grown = true;
    }
    if (busiest.matches(":hover") || busiest.contains(document.activeElement)) return;
    const told = new Set(queues.map((queue) => queue.queue_name));
    for (const [name, row] of rows) {
      if (rows.size <= most || told.has(name)) continue;
      row.remove();
      rows.delete(name);
    }
    if (!grown) return;
    grown = false;
    queues.forEach((queue, at) => body.insertBefore(rows.get(queue.queue_name), body.rows[at]));
  };
  const open = () => {
    source = new EventSource(place);
    source.addEventListener("figures", (event) => {
      const figures = JSON.parse(event.data);
      if (figures.counted_at === null) { age.textContent = "nobody has counted: start a worker"; return; }
      counted = Date.now() - figures.age * 1000;
      if (Date.parse(figures.counted_at) < asked) return;
      for (const [name, value] of Object.entries(figures.totals)) {
        for (const place of document.querySelectorAll(`[data-total="${CSS.escape(name)}"]`)) write(place, value);
      }
      if (busiest) arrange(figures.queues);
      for (const queue of figures.queues) {
        const row = rows.get(queue.queue_name);
        if (!row) continue;
        for (const place of row.querySelectorAll("[data-figure]")) {
          const name = place.dataset.figure;
          if (name !== "queue_name" && name in queue) write(place, queue[name]);
        }
      }
    });
    source.addEventListener("ended", () => { source.close(); age.textContent = "no longer live: load the page again"; });
  };
  setInterval(() => {
    if (counted === null) return;
    const seconds = Math.round((Date.now() - counted) / 1000);
    const late = seconds > 120 ? ": no maintenance runs" : "";
    age.textContent = `last counted ${seconds} s ago${late}`;
  }, 1000);
  button.addEventListener("click", () => {
    const paused = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!paused));
    button.textContent = paused ? "Pause updates" : "Go on";
    if (paused) open(); else source.close();
  });
  open();
} else {
  document.querySelector(".live")?.remove();
}
