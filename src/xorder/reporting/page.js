(function () {
  "use strict";
  // Every text and every drawing comes ready from the numbers; nothing is computed here.
  const stops = JSON.parse(document.getElementById("island").textContent);
  const control = document.getElementById("stop");

  function show(number) {
    const { text, bars } = stops[number];
    for (const place of document.querySelectorAll("[data-field]")) {
      place.textContent = text[place.dataset.field];
    }
    for (const bar of document.querySelectorAll("[data-bar]")) {
      const [start, length] = bars[bar.dataset.bar];
      bar.setAttribute("x", start + "%");
      bar.setAttribute("width", length + "%");
    }
    for (const part of document.querySelectorAll(".s")) {
      part.classList.toggle("on", part.classList.contains("s" + number));
    }
    for (const row of document.querySelectorAll("[data-stop]")) {
      row.classList.toggle("chosen", Number(row.dataset.stop) === number);
    }
    control.setAttribute("aria-valuetext", text.spoken);
  }

  // What a chart says below the pointer, or where the arrow keys have come to, stands below it.
  for (const chart of document.querySelectorAll(".chart")) {
    const tip = chart.querySelector(".tip");
    let at = -1;
    const read = (mark) => {
      chart.querySelectorAll(".read").forEach((other) => other.classList.remove("read"));
      if (mark) mark.classList.add("read");
      tip.textContent = mark ? mark.querySelector("title").textContent : "";
    };
    chart.addEventListener("pointerover", (event) => read(event.target.querySelector(":scope > title") && event.target));
    chart.addEventListener("pointerleave", () => read(null));
    chart.addEventListener("focusout", () => { at = -1; read(null); });
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const marks = [...event.target.querySelectorAll(".s.on .place, .dot, .hollow")];
      if (!step || !marks.length) return;
      event.preventDefault();
      at = (at + step + marks.length) % marks.length;
      read(marks[at]);
    });
  }

  if (control) {
    control.addEventListener("input", () => show(Number(control.value)));
    // A browser may have kept the place from the last visit.
    show(Number(control.value));
  }

  document.documentElement.setAttribute("data-ready", "yes");
})();
