(function () {
  "use strict";
  // Every text comes ready from the numbers; nothing is computed here.
  const { stops, charts } = JSON.parse(document.getElementById("island").textContent);
  const control = document.getElementById("stop");
  const views = [];
  let chosen = stops.length - 1;

  function show(number) {
    chosen = number;
    const { text, bars } = stops[number];
    for (const place of document.querySelectorAll("[data-field]")) {
      place.textContent = text[place.dataset.field];
    }
    for (const bar of document.querySelectorAll("[data-bar]")) {
      bar.style.width = bars[bar.dataset.bar] + "%";
    }
    for (const row of document.querySelectorAll("[data-stop]")) {
      row.classList.toggle("chosen", Number(row.dataset.stop) === number);
    }
    control.setAttribute("aria-valuetext", text.spoken);
    return Promise.all(views.map((view) => view.signal("stop", number).runAsync()));
  }

  async function draw(place) {
    const options = { mode: "vega", renderer: "svg", actions: false, tooltip: false, defaultStyle: false };
    const { view } = await vegaEmbed(place, charts[place.dataset.chart], options);
    views.push(view);
  }

  if (control) {
    control.addEventListener("input", () => show(Number(control.value)));
    // A browser may have kept the place from the last visit.
    chosen = Number(control.value);
  }

  // Closed parts are opened for print, and closed again.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((part) => part.setAttribute("open", ""));
  });
  window.addEventListener("afterprint", () => opened.forEach((part) => part.removeAttribute("open")));

  const places = [...document.querySelectorAll("[data-chart]")];
  Promise.all(places.map(draw))
    .then(() => (control ? show(chosen) : null))
    .then(() => document.documentElement.setAttribute("data-ready", "yes"));
})();
