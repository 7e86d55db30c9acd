fetch("/api/riot/tag")
  .then((answer) => answer.text())
  .then((source) => {
    riot.inject(riot.compileFromString(source).code, "dye-list", "./dye-list.riot");
    riot.mount("dye-list");
  });
