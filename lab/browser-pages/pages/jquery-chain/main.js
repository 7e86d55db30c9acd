import $ from "jquery";

$.get("/api/jquery-chain/number", ({ number }) => {
  $("#box").hide().load(`/api/jquery-chain/entry?number=${number}`, () => $("#box").fadeIn(800));
});
